import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { loadIssuerKeys } from './discovery.ts'

const servers: (() => void)[] = []
afterEach(() => {
  for (const stop of servers.splice(0)) stop()
})

async function serve(answer: (url: string) => RequestListener): Promise<string> {
  const holder: { listener?: RequestListener } = {}
  const server = createServer((request, response) => holder.listener?.(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  holder.listener = answer(url)
  return url
}

const json =
  (document: (url: string) => unknown) =>
  (url: string): RequestListener =>
  (_request, response) =>
    void response.end(JSON.stringify(document(url)))

const away = { reason: 'Unavailable', message: 'the issuer of the token cannot be reached: try again later' }

describe('the metadata of an issuer', () => {
  it.each<[string, (url: string) => unknown]>([
    ['names another issuer', (url) => ({ issuer: 'https://other.example', jwks_uri: `${url}/keys` })],
    ['names no keys', (url) => ({ issuer: url })],
    ['names keys in a file', (url) => ({ issuer: url, jwks_uri: 'file:///etc/passwd' })],
    ['is a list', () => []],
    ['is null', () => null],
  ])('that %s is of no use', async (_what, document) => {
    const issuer = await serve(json(document))
    await expect(loadIssuerKeys({ issuer })).rejects.toMatchObject(away)
  })

  it('that leads from https to http is refused', async () => {
    const issuer = 'https://issuer.example'
    const fetch = async () => new Response(JSON.stringify({ issuer, jwks_uri: 'http://issuer.example/keys' }))
    await expect(loadIssuerKeys({ issuer }, { fetch })).rejects.toMatchObject(away)
  })

  it('is read below the path of the issuer', async () => {
    const asked: string[] = []
    const issuer = 'https://issuer.example/tenant/'
    const fetch = async (url: string) => {
      asked.push(url)
      return new Response(JSON.stringify({ issuer, jwks_uri: 'https://issuer.example/keys', keys: [] }))
    }
    await loadIssuerKeys({ issuer }, { fetch })
    expect(asked).toEqual([
      'https://issuer.example/tenant/.well-known/openid-configuration',
      'https://issuer.example/keys',
    ])
  })

  it('that redirects elsewhere is not followed', async () => {
    const target = await serve(json((url) => ({ issuer: url, keys: [] })))
    const jwksUrl = await serve(() => (_request, response) => void response.writeHead(302, { location: target }).end())
    await expect(loadIssuerKeys({ issuer: jwksUrl, jwksUrl })).rejects.toMatchObject(away)
  })

  it('that never ends is cut off at a limit', async () => {
    const jwksUrl = await serve(() => (_request, response) => {
      const write = (): void => void (response.writable && response.write('x'.repeat(65_536), write))
      write()
    })
    await expect(loadIssuerKeys({ issuer: jwksUrl, jwksUrl })).rejects.toMatchObject(away)
  })

  it('that does not answer is given up after the timeout', async () => {
    const jwksUrl = await serve(() => () => undefined)
    await expect(loadIssuerKeys({ issuer: jwksUrl, jwksUrl }, { timeoutMs: 20 })).rejects.toMatchObject(away)
  })
})
