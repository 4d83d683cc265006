import { describe, expect, it } from 'vitest'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { classifyUrl, isTrustedAddress, trustedAnnotation } from './address.ts'

const own = ['127.0.0.1:8080', '192.168.1.5:8080']

describe('the class of an address', () => {
  it.each([
    ['https://api.example.com/v1', 'name'],
    ['https://8.8.8.8', 'public'],
    ['https://[2606:4700::1111]/', 'public'],
    ['http://127.0.0.1:11434', 'private'],
    ['http://localhost:11434/v1', 'private'],
    ['http://10.1.2.3', 'private'],
    ['http://[fd12::1]', 'private'],
    ['http://172.20.1.1', 'public'],
    ['http://172.21.1.1', 'private'],
    ['http://0x7f.1/', 'private'],
    ['http://[::ffff:10.0.0.1]/', 'private'],
    ['http://169.254.169.254/latest', 'metadata'],
    ['http://[::ffff:169.254.169.254]/', 'metadata'],
    ['http://metadata.google.internal./', 'metadata'],
    ['http://127.0.0.1:8080/x', 'service'],
    ['http://localhost:8080', 'service'],
    ['http://[::1]:8080', 'service'],
    ['http://0.0.0.0:8080', 'service'],
    ['http://192.168.1.5:8080', 'service'],
  ])('%s is %s', (url, expected) => {
    expect(classifyUrl(url, own, ['172.20.0.0/16'])).toBe(expected)
  })
})

function providerAt(baseURL: string, trusted = baseURL): Provider {
  const annotations = { [trustedAnnotation]: trusted }
  const metadata = {
    name: 'p',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: '2030-01-01T00:00:00Z',
    annotations,
  }
  return { metadata, spec: { type: 'llmo', baseURL, serverTools: true } } as unknown as Provider
}

describe('the owner’s trust in an address', () => {
  it.each([
    ...[
      'http://127.0.0.1:11434/v1',
      'http://10.1.2.3',
      'http://[fd00::1]:8080',
      'http://localhost:1',
      'http://gpu:8000',
    ],
    ...['http://model.local', 'http://vllm.models.svc:8000', 'http://host.docker.internal:11434'],
  ])('applies to %s, which can only lie in a private network [NET-004]', (url) => {
    expect(isTrustedAddress(providerAt(url))).toBe(true)
  })

  it.each([
    ...[
      'https://api.example.com/v1',
      'https://8.8.8.8/',
      'https://internal.example.com',
      'https://localhost.example.com',
    ],
    ...['http://169.254.169.254/', 'https://api.example.com./'],
  ])('does not apply to %s, whatever its name resolves to', (url) => {
    expect(isTrustedAddress(providerAt(url))).toBe(false)
  })

  it('ends when the address changes', () => {
    expect(isTrustedAddress(providerAt('http://127.0.0.1:2', 'http://127.0.0.1:1'))).toBe(false)
  })
})
