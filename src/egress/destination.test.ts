import { describe, expect, it } from 'vitest'
import { isSvcError } from '../errors.ts'
import type { EgressPolicy } from '../ports/service/egress.ts'
import { checkDestination, isDenied, normalizeAddress, refuseAddress } from './destination.ts'

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

const strict: EgressPolicy = { allowNetworks: [], deny: [] }
const trusted = { ...strict, isTrusted: true }

const refused = [
  ['127.0.0.1', 'loopback'],
  ['127.8.9.10', 'loopback'],
  ['::1', 'loopback'],
  ['10.0.0.1', 'private'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.168.1.1', 'private'],
  ['100.64.0.1', 'carrier-grade NAT'],
  ['169.254.1.1', 'link-local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['fc00::1', 'private'],
  ['fd12:3456::1', 'private'],
  ['fec0::1', 'site-local'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['::', 'unspecified'],
  ['224.0.0.1', 'multicast'],
  ['ff02::1', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['192.0.2.1', 'reserved'],
  ['198.18.0.1', 'reserved'],
  ['192.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:10.0.0.1', 'private'],
  ['[::ffff:7f00:1]', 'loopback'],
  ['::127.0.0.1', 'loopback'],
  ['::7f00:1', 'reserved'],
  ['64:ff9b::127.0.0.1', 'NAT64'],
  ['64:ff9b::8.8.8.8', 'NAT64'],
  ['2002:7f00:1::', '6to4'],
  ['2001:db8::1', 'reserved'],
  ['2001::1', 'teredo'],
] as const

const metadata = [
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '64:ff9b::169.254.169.254',
  '::a9fe:a9fe',
  '2002:a9fe:a9fe::',
  'fd00:ec2::254',
  'fd20:ce::254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
]

describe('the address rules', () => {
  it.each(refused)('refuse %s as %s [NET-002]', (address, range) => {
    expect(refuseAddress(address, strict)).toBe(`is a ${range} address`)
  })

  it.each(['93.184.216.34', '8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8', '172.32.0.1', '100.128.0.1'])(
    'let the public address %s pass',
    (address) => {
      expect(refuseAddress(address, strict)).toBeUndefined()
    },
  )

  it.each(metadata)('never let the metadata address %s pass, whatever the policy says [NET-005]', (address) => {
    const policy = { allowNetworks: ['0.0.0.0/0', '::/0'], isTrusted: true }
    expect(refuseAddress(address, policy)).toBe('is a metadata address')
  })

  it.each(['127.0.0.1', '::1', '10.1.2.3', '192.168.0.9', 'fd00::1', '100.64.1.1', '::ffff:127.0.0.1'])(
    'let %s pass for a trusted destination [NET-004]',
    (address) => {
      expect(refuseAddress(address, trusted)).toBeUndefined()
    },
  )

  it.each(['0.0.0.0', '169.254.1.1', 'fe80::1', '224.0.0.1', '64:ff9b::127.0.0.1', '240.0.0.1'])(
    'refuse %s even for a trusted destination',
    (address) => {
      expect(refuseAddress(address, trusted)).toMatch(/^is a /)
    },
  )

  it('let a private address pass when it lies in an allowed network [NET-002]', () => {
    const policy = { allowNetworks: ['10.0.0.0/8', 'fd00::/8', '127.0.0.1'], deny: [] }
    expect(refuseAddress('10.9.8.7', policy)).toBeUndefined()
    expect(refuseAddress('fd00::7', policy)).toBeUndefined()
    expect(refuseAddress('127.0.0.1', policy)).toBeUndefined()
    expect(refuseAddress('::ffff:10.1.1.1', policy)).toBeUndefined()
    expect(refuseAddress('192.168.0.1', policy)).toBe('is a private address')
    expect(refuseAddress('127.0.0.2', policy)).toBe('is a loopback address')
  })

  it('check the IPv4 address inside a named NAT64 network too', () => {
    const policy = { allowNetworks: ['64:ff9b::/96'], deny: [] }
    expect(refuseAddress('64:ff9b::8.8.8.8', policy)).toBeUndefined()
    expect(refuseAddress('64:ff9b::127.0.0.1', policy)).toBe('is a loopback address')
  })

  it('ignore a malformed network instead of opening everything', () => {
    expect(refuseAddress('10.0.0.1', { allowNetworks: ['nonsense', '10.0.0.0/99'] })).toBe('is a private address')
  })

  it('give each address one spelling', () => {
    expect(normalizeAddress('::ffff:1.2.3.4')).toBe('1.2.3.4')
    expect(normalizeAddress('[0:0:0:0:0:0:0:1]')).toBe(normalizeAddress('::1'))
    expect(normalizeAddress('example.com')).toBeUndefined()
  })
})
