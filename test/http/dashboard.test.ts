// The dashboard's page and files, and what must never be answered by them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compressFiles } from '../../scripts/compress.ts'
import { routes } from '../../src/contract/api/index.ts'
import { type Service, startService } from './service.ts'

const index = '<!doctype html><title>svc</title><script type="module" src="/assets/index-1a2b3c4d.js"></script>\n'
const script = `console.log(${JSON.stringify('the dashboard '.repeat(200))})\n`
const files: Record<string, string> = {
  'index.html': index,
  'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/index-1a2b3c4d.js': script,
  'assets/index-1a2b3c4d.css': 'body { margin: 0 }',
  'assets/inter-1a2b3c4d.woff2': 'wOF2',
}

let folder: string
let service: Service
let port: number
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-dashboard-'))
  await lay(folder)
  service = await startService({ http: { dashboard: { folder } } })
  port = Number(new URL(await service.listen()).port)
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

async function lay(to: string): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(to, name)), { recursive: true })
    writeFileSync(join(to, name), text)
  }
  await compressFiles(to)
}

const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

type Asked = { headers?: Record<string, string>; method?: string }

/** As it goes over the wire: clients tidy paths before they send them. */
async function ask(path: string, { headers = browser, method = 'GET' }: Asked = {}) {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ host: '127.0.0.1', port, path, method, headers }, resolve).on('error', reject).end()
  })
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
}

const textOf = ({ body }: { body: Buffer }) => body.toString()
const errorOf = ({ body }: { body: Buffer }) => JSON.parse(body.toString()).error

describe('the page', () => {
  it.each(['/', '/tasks', '/tasks/team-a/build', '/chat?session=1', '/settings/', '/nothing', '/tasks/a%2Fb'])(
    'is what a browser gets at %s [HTTP-019]',
    async (path) => {
      const answer = await ask(path)
      expect(answer.status).toBe(200)
      expect(textOf(answer)).toBe(index)
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        vary: 'Accept, Accept-Encoding',
      })
    },
  )

  it.each(['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0', 'image/avif,*/*'])(
    'is not for who accepts %s: they get the error as JSON [HTTP-019]',
    async (accept) => {
      const answer = await ask('/tasks', { headers: { accept } })
      expect(answer.status).toBe(404)
      expect(errorOf(answer)).toMatchObject({ code: 404, reason: 'NotFound' })
    },
  )

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is not the answer to %s [HTTP-019]', async (method) => {
    expect(errorOf(await ask('/tasks', { method }))).toMatchObject({ code: 404 })
  })

  const below = [...new Set(routes.map(({ path }) => `/${path.split('/')[1]}`))].flatMap((path) => [
    `${path}/no/such/thing`,
    `${path.toUpperCase()}/no/such/thing`,
    `/${encodeURIComponent(path.slice(1)).replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`)}/no/x`,
  ])
  it.each([...below, '/api', '/api/v1', '/llma/', '//api/v1/tasks', '/./api/v1/nothing', '/x/../api', '/..%2fapi/v1'])(
    'is not what is at %s [HTTP-019]',
    async (path) => {
      const answer = await ask(path)
      expect(answer.headers['content-type']).not.toContain('text/html')
      expect(answer.status).toBeGreaterThanOrEqual(400)
    },
  )

  it.each(['/api/v1/tasks', '/healthz', '/readyz', '/openapi.json', '/metrics'])(
    'is not what a browser gets from the route %s [HTTP-019]',
    async (path) => {
      expect((await ask(path)).headers['content-type']).not.toContain('text/html')
    },
  )

  it('is not at the path of metrics when those are served elsewhere', async () => {
    const apart = await startService({ http: { dashboard: { folder }, metricsApart: true } })
    const answer = await apart.call('GET /metrics', { headers: browser })
    expect(answer.statusCode).toBe(404)
    await apart.stop()
  })

  it('has a policy without inline code, and may not be framed or opened by others', async () => {
    const { headers } = await ask('/')
    const policy = String(headers['content-security-policy'])
    for (const directive of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"])
      expect(policy.split('; ')).toContain(directive)
    for (const directive of ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"])
      expect(policy.split('; ')).toContain(directive)
    expect(policy).not.toContain('unsafe')
    expect(policy).not.toContain('sandbox')
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(headers['permissions-policy']).toContain('camera=()')
    expect(headers['set-cookie']).toBeUndefined()
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it('is refused under a foreign name [HTTP-043]', async () => {
    const answer = await ask('/', { headers: { ...browser, host: 'evil.example' } })
    expect(errorOf(answer)).toMatchObject({ code: 403 })
  })

  it('takes long paths, up to the limit of all headers', async () => {
    expect((await ask(`/tasks/${'x'.repeat(8000)}`)).status).toBe(200)
    expect((await ask(`/tasks/${'x'.repeat(20_000)}`)).status).toBe(431)
  })

  it('is answered to HEAD without a body', async () => {
    const answer = await ask('/tasks', { method: 'HEAD' })
    expect(answer.status).toBe(200)
    expect(answer.headers['content-length']).toBe(String(index.length))
    expect(answer.body.length).toBe(0)
  })

  it('is not sent again to a browser that has it', async () => {
    const { etag = '' } = (await ask('/')).headers
    const again = await ask('/tasks', { headers: { ...browser, 'if-none-match': etag } })
    expect(again.status).toBe(304)
    expect(again.body.length).toBe(0)
  })

  it('says in a browser how to build it where it is not built', async () => {
    const bare = await startService({ http: { dashboard: { folder: join(folder, 'nowhere') } } })
    const answer = await bare.call('GET /tasks', { headers: browser })
    expect(answer.statusCode).toBe(404)
    expect(answer.json().error.message).toContain('npm run build')
    await bare.stop()
  })

  it('is not there when it is turned off', async () => {
    const off = await startService()
    for (const path of ['/', '/assets/index-1a2b3c4d.js']) {
      expect((await off.call(`GET ${path}`, { headers: browser })).statusCode).toBe(404)
    }
    await off.stop()
  })
})

describe('a file', () => {
  it.each([
    ['/assets/index-1a2b3c4d.js', 'text/javascript; charset=utf-8'],
    ['/assets/index-1a2b3c4d.css', 'text/css; charset=utf-8'],
    ['/assets/inter-1a2b3c4d.woff2', 'font/woff2'],
  ])('%s has its type, and is kept for ever', async (path, type) => {
    const answer = await ask(path, { headers: { accept: '*/*' } })
    expect(answer.status).toBe(200)
    expect(textOf(answer)).toBe(files[path.slice(1)])
    expect(answer.headers).toMatchObject({
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    })
  })

  it('whose name has no hash is asked for again', async () => {
    const answer = await ask('/favicon.svg', { headers: { accept: 'image/*' } })
    expect(answer.headers).toMatchObject({ 'content-type': 'image/svg+xml', 'cache-control': 'no-cache' })
  })

  it.each([
    ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['br;q=0.1, gzip', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
    ['br;q=0, *;q=0.5', 'gzip', gunzipSync],
  ])('comes compressed to who accepts %s: %s', async (accepted, coding, decompress) => {
    const answer = await ask('/assets/index-1a2b3c4d.js', { headers: { 'accept-encoding': accepted } })
    expect(answer.headers['content-encoding']).toBe(coding)
    expect(answer.headers.vary).toBe('Accept-Encoding')
    expect(answer.body.length).toBeLessThan(script.length / 4)
    expect(decompress(answer.body).toString()).toBe(script)
  })

  it.each(['', 'identity', 'deflate', 'br;q=0, gzip;q=0', 'zstd'])(
    'comes plain to who accepts %j',
    async (accepted) => {
      const answer = await ask('/assets/index-1a2b3c4d.js', { headers: { 'accept-encoding': accepted } })
      expect(answer.headers['content-encoding']).toBeUndefined()
      expect(textOf(answer)).toBe(script)
    },
  )

  it('has another tag in each form', async () => {
    const path = '/assets/index-1a2b3c4d.js'
    const tags = await Promise.all(
      ['br', 'gzip', ''].map(
        async (coding) => (await ask(path, { headers: { 'accept-encoding': coding } })).headers.etag,
      ),
    )
    expect(new Set(tags).size).toBe(3)
    const asked = { 'accept-encoding': 'br', 'if-none-match': String(tags[0]) }
    expect((await ask(path, { headers: asked })).status).toBe(304)
    expect((await ask(path, { headers: { ...asked, 'accept-encoding': 'gzip' } })).status).toBe(200)
  })

  it('is not compressed where that saves nothing', async () => {
    const answer = await ask('/assets/inter-1a2b3c4d.woff2', { headers: { 'accept-encoding': 'br' } })
    expect(answer.headers['content-encoding']).toBeUndefined()
  })

  it.each(['POST', 'PUT', 'DELETE'])('does not take %s', async (method) => {
    const answer = await ask('/assets/index-1a2b3c4d.js', { method })
    expect(answer.status).toBe(405)
    expect(answer.headers.allow).toBe('GET, HEAD')
    expect(errorOf(answer)).toMatchObject({ reason: 'MethodNotAllowed' })
  })

  it.each([
    '/assets',
    '/assets/',
    '/assets/none-00000000.js',
    '/assets/index-1a2b3c4d.js.br',
    '/assets/../index.html',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/index.html',
    '/assets/..\\..\\package.json',
    '/assets//etc/passwd',
    '/assets/%00',
    '/assets/__proto__',
  ])('that is not there is 404 as JSON, and no page: %s', async (path) => {
    const answer = await ask(path)
    expect(errorOf(answer)).toMatchObject({ code: 404, reason: 'NotFound' })
  })

  it.each(['/assets/%zz', '/assets/%ff', '/tasks/%e0%a4%a'])('with a broken name is 400: %s', async (path) => {
    expect(errorOf(await ask(path))).toMatchObject({ code: 400 })
  })
})
