import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createClientAddress } from './client-address.ts'

function find(networks: string[], remoteAddress: string, headers: Record<string, string> = {}): string {
  const request = { socket: { remoteAddress }, headers } as unknown as IncomingMessage
  return createClientAddress(networks)(request)
}

const proxies = ['10.0.0.0/8', '2001:db8:1::/48']
const plain = (value: string) => ({ 'x-forwarded-for': value })
const forwarded = (value: string) => ({ forwarded: value })

describe('the address of a client', () => {
  it('is that of the connection, whatever the headers say, unless a proxy is trusted', () => {
    expect(find([], '10.0.0.1', plain('198.51.100.7'))).toBe('10.0.0.1')
    expect(find(proxies, '198.51.100.9', plain('198.51.100.7'))).toBe('198.51.100.9')
    expect(find(proxies, '198.51.100.9', forwarded('for=198.51.100.7'))).toBe('198.51.100.9')
    expect(find(proxies, '10.0.0.1')).toBe('10.0.0.1')
  })

  it('is the one that the nearest trusted proxy added, not one that the client wrote before it', () => {
    expect(find(proxies, '::ffff:10.0.0.1', plain('1.1.1.1, 198.51.100.7'))).toBe('198.51.100.7')
    expect(find(proxies, '10.0.0.1', plain('1.1.1.1, 198.51.100.7, 10.2.0.1'))).toBe('198.51.100.7')
    expect(find(proxies, '10.0.0.1', forwarded('for=1.1.1.1, for=198.51.100.7;proto=https'))).toBe('198.51.100.7')
    expect(find(proxies, '2001:db8:1::5', forwarded('proto=https;For="[2001:db8:cafe::17]:4711"'))).toBe(
      '2001:db8:cafe::17',
    )
    expect(find(proxies, '10.0.0.1', plain('198.51.100.7:4711'))).toBe('198.51.100.7')
    expect(find(['10.0.0.1'], '10.0.0.1', plain('10.0.0.2'))).toBe('10.0.0.2')
  })

  it('is the first in the list when every hop is trusted', () => {
    expect(find(proxies, '10.0.0.1', plain('10.9.9.9, 10.2.0.1'))).toBe('10.9.9.9')
  })

  it.each([
    ['nonsense', plain('nonsense')],
    ['a name', plain('localhost')],
    ['an unknown node', forwarded('for=unknown')],
    ['a hidden node', forwarded('for=_hidden')],
    ['a quote left open', forwarded('for="198.51.100.7')],
    ['an escape', forwarded('for="198.51.100.\\7"')],
    ['no node at all', forwarded('proto=https')],
    ['an empty element', plain('198.51.100.7, ')],
  ])('is that of the proxy behind %s', (_what, headers) => {
    expect(find(proxies, '10.0.0.1', headers)).toBe('10.0.0.1')
  })

  it('is that of the proxy when the two headers differ, because the client wrote one of them', () => {
    const both = (first: string, second: string) => ({ ...plain(first), ...forwarded(second) })
    expect(find(proxies, '10.0.0.1', both('198.51.100.7', 'for=1.1.1.1'))).toBe('10.0.0.1')
    expect(find(proxies, '10.0.0.1', both('1.1.1.1', 'for=198.51.100.7'))).toBe('10.0.0.1')
    expect(find(proxies, '10.0.0.1', both('198.51.100.7', 'for=198.51.100.7'))).toBe('198.51.100.7')
  })
})
