// Input that is wrong, hostile or too large.
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aiTask, ownerToken, type Service, startService } from './service.ts'

let service: Service
let port: number
beforeAll(async () => {
  service = await startService()
  port = Number(new URL(await service.listen()).port)
})
afterAll(() => service.stop())

const mebibyte = 1_048_576
const json = { 'content-type': 'application/json' }
const postRaw = (payload: string | Buffer, headers: Record<string, string> = json) =>
  service.call('POST /api/v1/tasks', { payload, headers })

/** A request whose path and headers reach the wire as they are. */
function sendRaw(path: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const all = { authorization: `Bearer ${ownerToken}`, ...headers }
    const outgoing = request({ host: '127.0.0.1', port, path, headers: all }, (answer) => {
      let body = ''
      answer.on('data', (chunk) => {
        body += chunk
      })
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

describe('a body', () => {
  it('that is malformed JSON is 400 and says where [HTTP-003]', async () => {
    const answer = await postRaw('{"name": "x",\n "type": ai}')
    expect(answer.statusCode).toBe(400)
    const { error } = answer.json()
    expect(error.message).toContain('line 2, column 10')
    expect(error).toMatchObject({ code: 400, reason: 'InvalidRequest', requestId: answer.headers['x-request-id'] })
  })

  it.each(['[]', '"text"', '7', 'null', 'true'])('of the wrong type is 400: %s', async (payload) => {
    expect((await postRaw(payload)).statusCode).toBe(400)
  })

  it.each([
    [{ name: 7 }, 'name'],
    [{ type: ['ai'] }, 'type'],
    [{ priority: '500' }, 'priority'],
    [{ args: 'x' }, 'args'],
    [{ labels: { a: 1 } }, 'labels.a'],
  ])('with a value of the wrong type is 400 and named: %j', async (wrong, path) => {
    const answer = await service.call('POST /api/v1/tasks', { payload: { ...aiTask('wrong'), ...wrong } })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().error.details.map((problem: { path: string }) => problem.path)).toContain(path)
  })

  it('that is missing or empty is 400', async () => {
    expect((await service.call('POST /api/v1/tasks')).statusCode).toBe(400)
    expect((await postRaw('')).statusCode).toBe(400)
  })

  it('that is not JSON by its type is 415, a form of a web page too [HTTP-010]', async () => {
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/form-data; boundary=x',
      'text/json',
    ]) {
      const answer = await postRaw('name=x&type=ai', { 'content-type': type })
      expect([type, answer.statusCode, answer.json().error.reason]).toEqual([type, 415, 'UnsupportedMediaType'])
    }
  })

  it('may name its charset', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' }
    expect((await postRaw(JSON.stringify(aiTask('charset')), headers)).statusCode).toBe(201)
  })

  it('that is nested too deep is 400', async () => {
    const deep = `{"name":"deep","type":"ai","prompt":"p","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    const answer = await postRaw(deep)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().error.message).toContain('nested')
  })

  it('of very many values is 413 before any of them is checked, a large text is not [HTTP-031]', async () => {
    const many = await postRaw(`{"name":"many","type":"container","command":[${'1,'.repeat(100_000)}1]}`)
    expect(many.statusCode).toBe(413)
    expect(many.json().error.message).toContain('more than 20000 values')
    const text = await postRaw(JSON.stringify({ ...aiTask('commas'), prompt: ','.repeat(100_000) }))
    expect(text.statusCode).toBe(201)
  })

  it.each([
    ['a name', 'agents', { name: `${'a-'.repeat(3_000_000)}a`, spec: {} }],
    ['a label', 'agents', { name: 'x', metadata: { labels: { [`${'a.'.repeat(2_000_000)}!`]: 'y' } }, spec: {} }],
    [
      'a label like a field',
      'agents',
      { name: 'x', metadata: { labels: { [`a${'_'.repeat(2_000_000)}`]: 'y' } }, spec: {} },
    ],
    ['a secret', 'secrets', { name: `${'a.'.repeat(2_000_000)}!`, stringData: { a: 'b' } }],
    ['a duration', 'tasks', { ...aiTask('long'), timeout: '1h'.repeat(2_000_000) }],
  ])('with a word of millions of characters is 400 and not sent back: %s', async (_what, kind, payload) => {
    const answer = await service.call(`POST /api/v1/${kind}`, { payload })
    expect(answer.statusCode).toBe(400)
    expect(answer.body.length).toBeLessThan(5000)
  })

  it('with a prototype key is 400 and changes no prototype', async () => {
    const answer = await postRaw('{"name":"p","type":"ai","prompt":"p","labels":{"__proto__":{"polluted":"yes"}}}')
    expect(answer.statusCode).toBe(400)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect((await postRaw('{"constructor":{"prototype":{"polluted":1}}}')).statusCode).toBe(400)
  })

  it.each([
    ['POST /api/v1/tasks', 'invalid task: '],
    ['PUT /api/v1/tasks/none', 'invalid task: '],
    ['POST /api/v1/tasks/none/cancel', 'invalid request: '],
    ['POST /api/v1/tokens', 'invalid token: '],
    ['PUT /api/v1/security/repositories/none', 'invalid repository scan: '],
    ['POST /api/v1/chat', 'invalid request: '],
  ])('of %s is named for what it is: %s', async (call, beginning) => {
    const answer = await service.call(call, { payload: { nothing: 1 } })
    expect(answer.json().error.message.slice(0, beginning.length)).toBe(beginning)
  })

  it('that is not UTF-8 is 400', async () => {
    expect((await postRaw(Buffer.from([0x7b, 0xff, 0x7d]))).statusCode).toBe(400)
  })

  it('over 15 MiB is 413, and just below it is read [HTTP-031]', async () => {
    const makeBody = (bytes: number) => {
      const start = '{"name":"big","type":"ai","prompt":"'
      return `${start}${'x'.repeat(bytes - start.length - 2)}"}`
    }
    const over = await postRaw(makeBody(15 * mebibyte + 1))
    expect([over.statusCode, over.json().error.reason]).toEqual([413, 'TooLarge'])
    const below = await postRaw(makeBody(15 * mebibyte))
    expect(below.json().error.message).toContain('of one resource')
  })

  it('of one resource over 1 MiB is 413 and says what to do [HTTP-032]', async () => {
    const answer = await service.call('POST /api/v1/tasks', {
      payload: aiTask('fat', { prompt: 'x'.repeat(mebibyte) }),
    })
    expect([answer.statusCode, answer.json().error.reason]).toEqual([413, 'TooLarge'])
    expect(answer.json().error.message).toContain('artifacts')
    const fits = await service.call('POST /api/v1/tasks', { payload: aiTask('fit', { prompt: 'x'.repeat(1_000_000) }) })
    expect(fits.statusCode).toBe(201)
  })
})

describe('a name', () => {
  it.each(['UPPER', 'under_score', '-dash', 'dot.ted', 'a'.repeat(64), 'ümlaut', 'a b', 'nul\u0000', ''])(
    'that is not a DNS label is 400: %j',
    async (name) => {
      const answer = await service.call('POST /api/v1/tasks', { payload: aiTask(name) })
      expect(answer.statusCode).toBe(400)
      expect(answer.json().error.details.map((problem: { path: string }) => problem.path)).toContain('name')
    },
  )

  it.each(['..', '.', '%2e%2e', '..%2fsecrets', '%2fetc%2fpasswd', 'a%00b', '%5c..', 'a%0d%0ab'])(
    'in a path that tries tricks leads nowhere: %s',
    async (name) => {
      const { status, body } = await sendRaw(`/api/v1/tasks/${name}`)
      expect([400, 404]).toContain(status)
      expect(JSON.parse(body).error.requestId).toBeTruthy()
    },
  )

  it.each(['..', '.', '%2e%2e', '..%2f..%2fsvc.db', 'a%2fb', 'a%5cb', 'a%00b', 'a%0ab', 'x'.repeat(256)])(
    'of a file that tries tricks leads nowhere: %s',
    async (name) => {
      await service.call('POST /api/v1/tasks', { payload: aiTask('files') })
      expect([400, 404]).toContain((await sendRaw(`/api/v1/tasks/files/artifacts/${name}`)).status)
    },
  )

  it('with a broken percent-encoding is 400 in the usual form', async () => {
    const { status, body } = await sendRaw('/api/v1/tasks/%zz')
    expect(status).toBe(400)
    expect(JSON.parse(body).error).toMatchObject({ code: 400, reason: 'InvalidRequest' })
  })

  it('given twice in a query is 400', async () => {
    expect((await service.call('GET /api/v1/tasks?namespace=a&namespace=b')).statusCode).toBe(400)
  })
})

describe('the Host of a request', () => {
  it.each(['evil.example', 'evil.example:8080', '10.0.0.1', 'localhost.evil.example', 'a@localhost', '[::2]'])(
    'that is foreign is 403, before anything else: %j [HTTP-043]',
    async (host) => {
      const answer = await service.call('GET /healthz', { headers: { host }, token: null })
      expect([answer.statusCode, answer.json().error.reason]).toEqual([403, 'Forbidden'])
    },
  )

  it.each(['localhost', 'LOCALHOST:1234', '127.0.0.1:80', '127.1.2.3', '[::1]:8080', 'localhost.'])(
    'that is a loopback name is served: %s [HTTP-043]',
    async (host) => {
      expect((await service.call('GET /healthz', { headers: { host } })).statusCode).toBe(200)
    },
  )

  it('may be a public host of the configuration, but no other [HTTP-043]', async () => {
    const other = await startService({ http: { publicHosts: ['svc.example.com'] } })
    const get = (host: string) => other.call('GET /healthz', { headers: { host } })
    expect((await get('svc.example.com:443')).statusCode).toBe(200)
    expect((await get('x.svc.example.com')).statusCode).toBe(403)
    await other.stop()
  })
})

describe('the id of a request', () => {
  it('is echoed when it is sane, and made when it is not [HTTP-030]', async () => {
    const idFor = async (id: string) =>
      (await service.call('GET /healthz', { headers: { 'x-request-id': id } })).headers['x-request-id']
    expect(await idFor('abc-1.2_3')).toBe('abc-1.2_3')
    for (const bad of ['', 'a b', 'x'.repeat(129), '<script>']) expect(await idFor(bad)).toMatch(/^req-[0-9a-f-]{36}$/)
  })
})
