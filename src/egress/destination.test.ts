import { describe, expect, it } from 'vitest'
import { isSvcError } from '../errors.ts'
import type { EgressPolicy } from '../ports/service/egress.ts'
import { checkDestination, isDenied } from './destination.ts'

const open: EgressPolicy = { allowNetworks: ['0.0.0.0/0', '::/0'], deny: [] }

function reasonFor(url: string, policy: EgressPolicy = open): string {
  try {
    checkDestination(url, policy)
    return 'passed'
  } catch (error) {
    return isSvcError(error) ? error.reason : 'thrown'
  }
}

describe('a destination', () => {
  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'data:text/plain,hello',
    'http://user:secret@example.com/',
    'http://user@example.com/',
    'http://localhost./',
    'http://example.com./',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://METADATA.google.internal/',
    'http://metadata/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0/',
    'http://①②⑦.0.0.1/',
  ])('is refused: %s', (url) => {
    expect(reasonFor(url)).toBe('Forbidden')
  })

  it.each(['', 'example.com', 'http://', 'http://[::1', 'http://a b/', 'http://256.256.256.256/'])(
    'must be a URL: %j',
    (url) => {
      expect(reasonFor(url)).toBe('InvalidRequest')
    },
  )

  it.each([
    'https://example.com/a?b=c',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]:8080/',
    'https://münchen.example/',
  ])('passes: %s', (url) => {
    expect(reasonFor(url)).toBe('passed')
  })

  it('must be a host the credential may be sent to [SECRET-006]', () => {
    const policy = { ...open, allowedHosts: ['api.example.com', '*.trusted.example', 'other.example:8443'] }
    expect(reasonFor('https://api.example.com/x', policy)).toBe('passed')
    expect(reasonFor('https://API.example.com/x', policy)).toBe('passed')
    expect(reasonFor('https://a.trusted.example/', policy)).toBe('passed')
    expect(reasonFor('https://other.example:8443/', policy)).toBe('passed')
    expect(reasonFor('https://other.example/', policy)).toBe('Forbidden')
    expect(reasonFor('https://trusted.example/', policy)).toBe('Forbidden')
    expect(reasonFor('https://eviltrusted.example/', policy)).toBe('Forbidden')
    expect(reasonFor('https://api.example.com.evil.example/', policy)).toBe('Forbidden')
    expect(reasonFor('https://api.example.com/', { ...open, allowedHosts: [] })).toBe('Forbidden')
  })
})

describe('the addresses of the service itself', () => {
  const machine = { deny: ['127.0.0.1:8080', 'svc.example:443'], ownAddresses: ['192.168.7.7'] }

  it.each([
    ['127.0.0.1', 8080],
    ['127.0.0.2', 8080],
    ['::1', 8080],
    ['[::ffff:127.0.0.1]', 8080],
    ['192.168.7.7', 8080],
    ['svc.example', 443],
  ])('are denied as %s port %i [NET-003]', (host, port) => {
    expect(isDenied(host, port, machine)).toBe(true)
  })

  it.each([
    ['127.0.0.1', 8081],
    ['192.168.7.8', 8080],
    ['svc.example', 80],
  ])('are not %s port %i', (host, port) => {
    expect(isDenied(host, port, machine)).toBe(false)
  })

  it('are all addresses of the machine when the service listens on all', () => {
    expect(isDenied('192.168.7.7', 8080, { ...machine, deny: ['0.0.0.0:8080'] })).toBe(true)
    expect(isDenied('192.168.7.7', 8080, { ...machine, deny: ['[::]:8080'] })).toBe(true)
  })
})
