import { describe, expect, it } from 'vitest'
import { matchesHost, normalizeHost, readHostName, writeHostName } from './network-names.ts'

describe('the name of a host', () => {
  it.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.example.', 'xn--bcher-kva.example'],
    ['a_b.example', 'a_b.example'],
    ['10.0.0.1', '10.0.0.1'],
    ['[::1]', '::1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['[::FFFF:a9fe:a9fe]', '169.254.169.254'],
    ['2001:DB8::0:1', '2001:db8::1'],
  ])('has one spelling: %s', (text, host) => expect(normalizeHost(text)).toBe(host))

  it.each([
    ...[
      '',
      '.',
      'a..b',
      'example.com..',
      '-a.example',
      'a b',
      'a/b',
      'a?b',
      'a#b',
      'u@a',
      'a\\b',
      '%61.example',
      'a\0b',
    ],
    ...['0x7f.1', '127.1', '2130706433', '0177.0.0.1', '１２７.0.0.1', '127.0.0.1.', '[127.0.0.1]', '[example.com]'],
    ...['fe80::1%eth0', '[fe80::1%251]', '::1::', '[::1', `${'a'.repeat(64)}.example`, `${'a.'.repeat(200)}example`],
  ])('is none: %j', (text) => expect(normalizeHost(text)).toBeUndefined())

  it.each([
    ['example.com', { host: 'example.com' }],
    ['example.com:8443', { host: 'example.com', port: 8443 }],
    ['*.example.com', { host: 'example.com', isSuffix: true }],
    ['*.example.com:1', { host: 'example.com', port: 1, isSuffix: true }],
    ['[2001:db8::1]:443', { host: '2001:db8::1', port: 443 }],
    ['2001:db8::1', { host: '2001:db8::1' }],
  ])('has a port or stands for those below it: %s', (text, read) => {
    const found = readHostName(text)
    expect(found).toEqual(read)
    if (found !== undefined) expect(readHostName(writeHostName(found))).toEqual(read)
  })

  it.each(['*', '*.', '*.10.0.0.1', 'a.*.example', 'example.com:', 'example.com:0', 'example.com:65536', 'a:1:2'])(
    'is no pattern: %s',
    (text) => expect(readHostName(text)).toBeUndefined(),
  )

  it('is matched whole, and a suffix at a dot', () => {
    const suffix = { host: 'example.com', isSuffix: true } as const
    expect(matchesHost(suffix, { host: 'a.b.example.com', port: 443 })).toBe(true)
    expect(matchesHost(suffix, { host: 'example.com', port: 443 })).toBe(false)
    expect(matchesHost(suffix, { host: 'notexample.com', port: 443 })).toBe(false)
    expect(matchesHost({ host: 'example.com', port: 8443 }, { host: 'example.com', port: 443 })).toBe(false)
    expect(matchesHost({ host: 'example.com' }, { host: 'example.com', port: 8443 })).toBe(true)
  })
})
