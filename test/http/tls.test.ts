// HTTPS: served with the files given, renewed under open connections, and what stands beside it.
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorkerListener } from '../../src/http/listeners.ts'
import { renewTls, secureOptionsOf } from '../../src/http/tls.ts'
import { readTls, type TlsWatch, watchTls } from '../../src/service/tls.ts'
import { type Certificate, get, hasOpenssl, makeAgent, makeCertificate, readServed } from '../fixtures/certificates.ts'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

const removals: (() => void)[] = []
afterAll(() => {
  for (const remove of removals) remove()
})

function make(name: string): Certificate {
  const made = makeCertificate(name)
  removals.push(made.remove)
  return made
}

const authorization = `Bearer ${ownerToken}`

describe.skipIf(!hasOpenssl)('HTTPS (skipped where openssl is not installed)', () => {
  let service: Service
  let first: Certificate
  let url: string
  beforeAll(async () => {
    first = make('first')
    service = await startService({ http: { tls: { cert: first.cert, key: first.key } } })
    url = await service.listen()
  })
  afterAll(() => service.stop())

  it('is served, with the header that makes browsers stay with it', async () => {
    const agent = makeAgent(first.cert)
    const answer = await get(`${url}/api/v1/tasks`, agent, { headers: { authorization } })
    expect([answer.status, answer.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
    const proxied = await get(`${url}/llma/v1/models`, agent, { headers: { authorization } })
    expect([proxied.status, proxied.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
    agent.destroy()
  })

  it('is the only protocol: plain HTTP gets no answer of the API', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => {})
    socket.write(`GET /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`)
    await new Promise((resolve) => socket.once('close', resolve))
    expect(text).not.toContain('items')
  })

  it('is no older than TLS 1.2', async () => {
    await expect(readServed(url, { maxVersion: 'TLSv1.1' })).rejects.toThrow()
    expect(await readServed(url, { maxVersion: 'TLSv1.2' })).toBe('first')
  })

  it('shows a new certificate to new connections and keeps the open ones', async () => {
    const agent = makeAgent(first.cert)
    const ask = () => get(`${url}/healthz`, agent)
    expect((await ask()).reused).toBe(false)
    const second = make('second')
    renewTls(service.server, { cert: second.cert, key: second.key })
    expect(await readServed(url)).toBe('second')
    expect(await ask()).toMatchObject({ status: 200, reused: true })
    expect(() => renewTls(service.server, { cert: first.cert, key: second.key })).toThrow(/cannot be used/)
    expect(await readServed(url)).toBe('second')
    renewTls(service.server, { cert: first.cert, key: first.key })
    agent.destroy()
  })

  it('leaves workers on this machine a loopback listener with the worker API only', async () => {
    const listener = createWorkerListener(service.server)
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(listener.address() as { port: number }).port}`
    await service.call('POST /api/v1/tasks', { payload: aiTask('local') })
    const { token } = await service.runTask('local')
    const log = {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'text/plain' },
      body: 'x\n',
    }
    expect((await fetch(`${base}/internal/v1/logs/default/local`, log)).status).toBe(204)
    for (const path of [
      '/api/v1/tasks',
      '/llma/v1/models',
      '/metrics',
      '/healthz',
      '/internal/v1/../../api/v1/tasks',
    ]) {
      expect((await fetch(`${base}${path}`, { headers: { authorization } })).status).toBe(404)
    }
    listener.closeAllConnections()
    listener.close()
  })
})

describe.skipIf(!hasOpenssl)('the TLS files (skipped where openssl is not installed)', () => {
  it('that do not match, or are invalid, are refused by name and without their content', async () => {
    const [one, other] = [make('one'), make('other')]
    const files = { certFile: one.certFile, keyFile: other.keyFile }
    await expect(readTls(files)).rejects.toThrow(other.keyFile)
    const broken = join(mkdtempSync(join(tmpdir(), 'svc-tls-')), 'broken.key')
    removals.push(() => rmSync(join(broken, '..'), { recursive: true, force: true }))
    writeFileSync(broken, 'private-words')
    const error = await readTls({ certFile: one.certFile, keyFile: broken }).catch((thrown: unknown) => thrown)
    expect(String(error)).not.toContain('private-words')
    await expect(readTls({ certFile: join(broken, 'none'), keyFile: broken })).rejects.toThrow(/none/)
    expect(() => secureOptionsOf({ cert: one.cert, key: other.key })).toThrow()
  })

  it('are loaded when they change, and ignored while they are invalid', async () => {
    const [old, next] = [make('old'), make('next')]
    const files = { certFile: old.certFile, keyFile: old.keyFile }
    const told: string[] = []
    const renewed: string[] = []
    const note = (_fields: unknown, text: string) => told.push(text)
    const ending = new AbortController()
    let turn = 0
    const steps = [
      () => {},
      () => copyFileSync(next.certFile, old.certFile),
      () => {},
      () => copyFileSync(next.keyFile, old.keyFile),
      () => {},
      () => ending.abort(),
    ]
    const clock = {
      now: () => new Date(),
      sleep: async () => {
        steps[turn]?.()
        turn += 1
      },
    }
    const log = { info: note, warn: note } as unknown as TlsWatch['log']
    const renew: TlsWatch['renew'] = ({ cert }) => renewed.push(cert.equals(next.cert) ? 'next' : 'other')
    await watchTls({ files, current: old, clock, log, renew }, ending.signal)
    expect(renewed).toEqual(['next'])
    expect(told).toEqual(['the new TLS files cannot be used; the old ones stay', 'the TLS certificate was renewed'])
  })
})

describe('every answer', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({ http: { corsAllowedOrigins: ['https://app.example.com'] } })
  })
  afterAll(() => service.stop())

  it('tells browsers not to treat it as a page, whatever it contains', async () => {
    const url = await service.listen()
    const port = Number(new URL(url).port)
    const paths = ['/healthz', '/api/v1/tasks', '/api/v1/none', '/llma/v1/models', '/llmo/none', '/internal/v1/none']
    for (const path of paths) {
      const { headers } = await fetch(`${url}${path}`)
      expect([path, headers.get('x-content-type-options'), headers.get('x-frame-options')]).toEqual([
        path,
        'nosniff',
        'DENY',
      ])
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect([headers.get('strict-transport-security'), headers.get('server'), headers.get('x-powered-by')]).toEqual([
        null,
        null,
        null,
      ])
    }
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.write('no http at all\r\n\r\n')
    await new Promise((resolve) => socket.once('close', resolve))
    expect(text).toContain('x-content-type-options: nosniff')
  })

  it('is for pages of the named origins alone, and takes no credentials of a browser along', async () => {
    const ask = (origin: string, method = 'GET') => {
      const preflight = method === 'OPTIONS' ? { 'access-control-request-method': 'GET' } : {}
      return service.call(`${method} /api/v1/tasks`, { headers: { origin, ...preflight } })
    }
    const allowed = await ask('https://app.example.com')
    expect(allowed.headers['access-control-allow-origin']).toBe('https://app.example.com')
    expect(allowed.headers['access-control-allow-credentials']).toBeUndefined()
    expect((await ask('https://app.example.com', 'OPTIONS')).statusCode).toBe(204)
    for (const origin of [
      'https://evil.example.com',
      'https://app.example.com.evil.com',
      'null',
      'http://app.example.com',
    ]) {
      expect((await ask(origin)).headers['access-control-allow-origin']).toBeUndefined()
      expect((await ask(origin, 'OPTIONS')).headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  it('of an internal error contains no details', async () => {
    const broken = await startService()
    broken.ports.resources.getText = async () => {
      throw new Error('inside at /srv/app/file.ts:1:1')
    }
    const answer = await broken.call('GET /api/v1/tasks/x')
    expect([answer.statusCode, answer.json().error.message]).toEqual([500, 'Internal Server Error'])
    expect(answer.body).not.toMatch(/inside|file\.ts|\bat /)
    await broken.stop()
  })
})
