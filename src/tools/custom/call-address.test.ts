import { describe, expect, it } from 'vitest'
import { fillAddress } from './call-address.ts'

const base = 'https://api.example.com'

describe('the address of a call', () => {
  it.each<[string, object, string, object]>([
    ['/cities/{city}', { city: 'oslo', days: 3 }, '/cities/oslo', { days: 3 }],
    ['/{a}/{b}?q={c}&v=1', { a: 1, b: true, c: 'x&y=z' }, '/1/true?q=x%26y%3Dz&v=1', {}],
    ['/{a}-{a}', { a: 'x' }, '/x-x', {}],
    ['/{a}', { a: 'x/../y' }, '/x%2F..%2Fy', {}],
    ['/{a}', { a: '%2e%2e' }, '/%252e%252e', {}],
    ['/{a}', { a: '?q#f@h:\\' }, '/%3Fq%23f%40h%3A%5C', {}],
    ['/{a}', { a: '\ud800' }, '/%EF%BF%BD', {}],
    ['/{a}', { a: '$&{b}' }, '/%24%26%7Bb%7D', {}],
    ['/v1.{a}', { a: '.' }, '/v1..', {}],
    ['/x?q={q}', { q: '' }, '/x?q=', {}],
    ['/{', { a: 1 }, '/{', { a: 1 }],
  ])('of %s with %j is %s', (address, args, url, rest) => {
    expect(fillAddress(base + address, { ...args })).toEqual({ url: base + url, rest })
  })

  it.each<[string, object]>([
    ['/{a}', { a: '..' }],
    ['/{a}', { a: '.' }],
    ['/{a}/b', { a: '' }],
    ['/{a}{b}', { a: '.', b: '.' }],
    ['/.{a}', { a: '.' }],
    ['/%2{a}%2e', { a: 'e' }],
    ['/{a}', { a: ['x'] }],
    ['/{a}', { a: { b: 1 } }],
    ['/x?q={a}', { a: null }],
    ['/{a}', {}],
  ])('cannot lead elsewhere: %s with %j', (address, args) => {
    expect(() => fillAddress(base + address, { ...args })).toThrow(
      expect.objectContaining({ reason: 'InvalidRequest' }),
    )
  })

  it.each(['https://{a}/x', 'https://{a}.example.com', '{a}://example.com', 'https:/\\/{a}', `${base}\\{a}`])(
    'takes no argument in %s',
    (address) => {
      expect(() => fillAddress(address, { a: 'b' })).toThrow(expect.objectContaining({ reason: 'NotConfigured' }))
    },
  )
})
