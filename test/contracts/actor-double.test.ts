// The double of the actor service, apart from the service's own client: the plain client of gRPC, and plain HTTP.
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Client, credentials, loadPackageDefinition, Metadata } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ActorsDouble, startActors } from '../fixtures/actors/actors.ts'
import { dnsSuffix } from '../fixtures/actors/router.ts'

type Answer = Record<string, unknown> & { actor: Record<string, unknown> }
type Callback = (error: { code: number; details: string } | null, answer: Answer) => void
type Plain = Client & Record<string, (request: object, metadata: Metadata, callback: Callback) => void>

let double: ActorsDouble
let control: Plain
let identity: Plain

beforeAll(async () => {
  double = await startActors({ workers: 1 })
  const proto = fileURLToPath(new URL('../fixtures/actors/ateapi.proto', import.meta.url))
  const { ateapi } = loadPackageDefinition(
    loadSync(proto, { keepCase: true, enums: String, defaults: true }),
  ) as never as {
    ateapi: Record<'Control' | 'SessionIdentity', new (address: string, secure: object) => Plain>
  }
  const secure = credentials.createSsl(double.certificate.cert)
  control = new ateapi.Control(double.control.endpoint, secure)
  identity = new ateapi.SessionIdentity(double.control.endpoint, secure)
})
afterAll(async () => {
  control.close()
  identity.close()
  await double.stop()
})

function call(client: Plain, name: string, message: object, headers: Record<string, string> = {}): Promise<Answer> {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(headers)) metadata.set(key, value)
  return new Promise((resolve, reject) =>
    client[name]?.(message, metadata, (error, answer) => (error === null ? resolve(answer) : reject(error))),
  )
}
const actor_ref = { atespace: 'a', name: 'one' }
const template = { actor_template_namespace: 'templates', actor_template_name: 'agents' }

function ask(path: string, init: { method?: string; token?: string; body?: object; name?: string } = {}) {
  const { hostname, port } = new URL(double.router.url)
  const host = `${init.name ?? 'one'}.a.${dnsSuffix}`
  const headers = { host, ...(init.token === undefined ? {} : { authorization: `Bearer ${init.token}` }) }
  return new Promise<{ status: number; told: string }>((resolve, reject) => {
    const sent = request({ hostname, port, path, method: init.method ?? 'GET', headers }, async (response) =>
      resolve({ status: response.statusCode ?? 0, told: await text(response) }),
    )
    sent.on('error', reject)
    sent.end(init.body === undefined ? undefined : JSON.stringify(init.body))
  })
}

describe('the double of the actor service', () => {
  it('makes actors as the published one does: suspended, in an atespace, of a template', async () => {
    await expect(call(control, 'GetActor', { actor_ref })).rejects.toMatchObject({ code: 5 })
    await expect(call(control, 'CreateActor', { actor_ref, ...template })).rejects.toMatchObject({ code: 9 })
    await call(control, 'CreateAtespace', { name: 'a' })
    await expect(call(control, 'CreateAtespace', { name: 'a' })).rejects.toMatchObject({ code: 6 })
    await expect(
      call(control, 'CreateActor', { actor_ref, ...template, actor_template_name: 'x' }),
    ).rejects.toMatchObject({ code: 9 })
    await expect(
      call(control, 'CreateActor', { actor_ref: { atespace: 'a', name: 'A_b' }, ...template }),
    ).rejects.toMatchObject({ code: 3 })
    const { actor } = await call(control, 'CreateActor', { actor_ref, ...template })
    expect(actor).toMatchObject({
      actor_id: 'one',
      atespace: 'a',
      status: 'STATUS_SUSPENDED',
      latest_snapshot_info: null,
    })
    await expect(call(control, 'CreateActor', { actor_ref, ...template })).rejects.toMatchObject({ code: 6 })
  })

  it('runs one actor on each worker, and deletes suspended ones only', async () => {
    expect((await call(control, 'ResumeActor', { actor_ref })).actor.status).toBe('STATUS_RUNNING')
    const second = { atespace: 'a', name: 'two' }
    await call(control, 'CreateActor', { actor_ref: second, ...template })
    await expect(call(control, 'ResumeActor', { actor_ref: second })).rejects.toMatchObject({
      code: 9,
      details: 'no free workers available',
    })
    await expect(call(control, 'DeleteActor', { actor_ref })).rejects.toMatchObject({ code: 9 })
    expect((await call(control, 'ListWorkers', {})).workers).toMatchObject([
      { actor_id: 'one', actor_atespace: 'a', node_name: 'node-1' },
    ])
    const page = await call(control, 'ListActors', { page_size: 1 })
    expect(page).toMatchObject({ actors: [{ actor_id: 'one' }], next_page_token: '1' })
    await call(control, 'DeleteActor', { actor_ref: second })
  })

  it('mints tokens for who shows its token', async () => {
    const asked = { audience: ['svc'], app_id: 'a', user_id: 'u', session_id: 's' }
    await expect(call(identity, 'MintJWT', asked)).rejects.toMatchObject({ code: 16 })
    const minted = await call(identity, 'MintJWT', asked, { authorization: `Bearer ${double.identityToken}` })
    expect(minted.session_jwt).toBe('header.svc.a.u.s')
  })

  it('has daemons that take the bootstrap token once, then the token that was handed over', async () => {
    const { bootstrapToken } = double
    const file = (path: string, content: string) => ({
      files: [{ path, content: Buffer.from(content).toString('base64'), mode: '0600' }],
    })
    expect((await ask('/healthz')).told).toBe('{"status":"ok"}')
    expect((await ask('/v1/exec', { method: 'POST', token: bootstrapToken, body: {} })).status).toBe(403)
    expect((await ask('/v1/files', { method: 'POST', token: bootstrapToken, body: file('/app/x', 'x') })).status).toBe(
      403,
    )
    const handover = (token: string, next: string) =>
      ask('/v1/files', { method: 'POST', token, body: file('/app/.svc/handoff-token', next) })
    expect((await handover(bootstrapToken, 'one.secret')).status).toBe(200)
    expect((await handover(bootstrapToken, 'two.secret')).status).toBe(401)
    expect((await ask('/healthz')).told).toBe('{"status":"ok","handoff":"one"}')
    expect((await handover('one.secret', 'two.secret')).status).toBe(200)
    expect((await handover('two.secret', 'one.secret')).status).toBe(401)
    expect((await ask('/v1/exec/none', { token: 'one.secret' })).status).toBe(401)
    expect((await ask('/v1/exec/none', { token: 'two.secret' })).status).toBe(404)
  })

  it('has daemons that run commands and give files', async () => {
    const token = 'two.secret'
    const body = {
      execId: 'c',
      command: ['sh', '-c', 'pwd; echo x >made'],
      workDir: '/app',
      timeoutSeconds: 10,
      detach: true,
    }
    expect((await ask('/v1/exec', { method: 'POST', token, body })).status).toBe(200)
    await expect.poll(async () => JSON.parse((await ask('/v1/exec/c', { token })).told).running).toBe(false)
    expect(JSON.parse((await ask('/v1/exec/c', { token })).told)).toMatchObject({ exitCode: 0, stdout: '/app\n' })
    const made = await ask('/v1/files/download', { method: 'POST', token, body: { path: '/app/made' } })
    expect(Buffer.from(JSON.parse(made.told).content, 'base64').toString()).toBe('x\n')
    expect((await ask('/v1/scrub', { method: 'POST', token, body: { paths: ['/app/made'] } })).status).toBe(200)
    expect((await ask('/v1/files/download', { method: 'POST', token, body: { path: '/app/made' } })).status).toBe(500)
  })

  it('has daemons that go on after a request that was cut off in its body', async () => {
    const { hostname, port } = new URL(double.router.url)
    const headers = { host: `one.a.${dnsSuffix}`, authorization: 'Bearer two.secret', 'content-length': '1000' }
    const sent = request({ hostname, port, path: '/v1/files', method: 'POST', headers })
    sent.on('error', () => undefined)
    sent.write('{"files": [')
    // The router has passed the beginning on by the time that another request over the same way is answered.
    expect((await ask('/healthz')).status).toBe(200)
    sent.destroy()
    for (let times = 0; times < 20; times += 1) expect((await ask('/healthz')).status).toBe(200)
  })

  it('has a router that wakes actors, and knows no others', async () => {
    await call(control, 'SuspendActor', { actor_ref })
    expect((await ask('/healthz')).status).toBe(200)
    expect((await call(control, 'GetActor', { actor_ref })).actor.status).toBe('STATUS_RUNNING')
    expect(await ask('/healthz', { name: 'none' })).toEqual({ status: 404, told: 'actor "none" not found' })
  })
})
