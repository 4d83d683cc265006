// Tokens made by `svc token create`: what each may do, and until when.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitFor } from '../fixtures/time.ts'
import { environmentOf, launchSvc, makeFolder, removeFolder, runSvc, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
})

async function createToken(...flags: string[]): Promise<string> {
  const outcome = await runSvc(['token', 'create', ...flags], service.env)
  expect(outcome.code, outcome.stderr).toBe(0)
  return outcome.stdout.trim()
}

async function call(token: string, method: string, path: string, body?: object): Promise<number> {
  const headers: Record<string, string> = { authorization: `Bearer ${token}` }
  if (body) headers['content-type'] = 'application/json'
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  return response.status
}

const task = (name: string, namespace: string) => ({ name, namespace, type: 'container', command: ['true'] })

describe('svc token create', () => {
  it('with --namespace makes a token that acts in that namespace only [AUTH-016]', async () => {
    const token = await createToken('bound', '--namespace', 'team')
    expect(await call(token, 'POST', '/api/v1/tasks', task('own', 'team'))).toBe(201)
    expect(await call(token, 'GET', '/api/v1/tasks')).toBe(200)
    expect(await call(token, 'POST', '/api/v1/tasks', task('foreign', 'default'))).toBe(403)
    expect(await call(token, 'GET', '/api/v1/tasks?namespace=default')).toBe(403)
  })

  it('with --read-only makes a token that can only read [AUTH-017]', async () => {
    const token = await createToken('reader', '--read-only')
    expect(await call(token, 'GET', '/api/v1/tasks')).toBe(200)
    expect(await call(token, 'POST', '/api/v1/tasks', task('written', 'default'))).toBe(403)
    expect(await call(token, 'DELETE', '/api/v1/tasks/own?namespace=team')).toBe(403)
  })

  it('with --expires makes a token that is refused afterwards [AUTH-018]', async () => {
    const lasting = await createToken('lasting', '--expires', '30d')
    const brief = await createToken('brief', '--expires', '2s')
    expect(await call(brief, 'GET', '/api/v1/auth/validate')).toBe(200)
    await waitFor(async () => (await call(brief, 'GET', '/api/v1/auth/validate')) === 401, 'the token to expire')
    expect(await call(lasting, 'GET', '/api/v1/auth/validate')).toBe(200)
  })

  it('shows a token once: the list has none of it, and a revoked one is refused', async () => {
    const token = await createToken('shown')
    const list = await runSvc(['token', 'list', '-o', 'json'], service.env)
    expect(list.stdout).not.toContain(token)
    const items = JSON.parse(list.stdout) as { id: string; name: string }[]
    const id = items.find((item) => item.name === 'shown')?.id ?? ''
    expect((await runSvc(['token', 'revoke', id], service.env)).code).toBe(0)
    expect(await call(token, 'GET', '/api/v1/auth/validate')).toBe(401)
  })
})

describe('svc config print', () => {
  it('shows every setting with its source and hides what is secret [CLI-007]', async () => {
    const folder = makeFolder()
    const env = { ...environmentOf(folder), SVC_PORT: '9999', SVC_BOOTSTRAP_TOKEN: 'a-token-that-must-not-show' }
    const outcome = await runSvc(['config', 'print', '-o', 'json'], env)
    removeFolder(folder)
    expect(outcome.stderr).toContain('no service runs')
    const values = JSON.parse(outcome.stdout) as { name: string; value: string; source: string }[]
    expect(values).toContainEqual({ name: 'port', value: '9999', source: 'environment' })
    expect(values).toContainEqual({ name: 'host', value: '127.0.0.1', source: 'default' })
    expect(outcome.stdout).not.toContain('a-token-that-must-not-show')
  })

  it('shows those of the service that runs, whatever this shell says', async () => {
    const outcome = await runSvc(['config', 'print', '-o', 'json'], { ...service.env, SVC_PORT: '9999' })
    const values = JSON.parse(outcome.stdout) as { name: string; value: string; source: string }[]
    expect(values.find(({ name }) => name === 'port')?.value).not.toBe('9999')
    expect(outcome.stderr).toContain('settings of the service at ')
  })
})

describe('svc doctor', () => {
  it('says what this machine has, and for what is missing how to get it [PLAT-002]', async () => {
    const outcome = await launchSvc(['doctor', '-o', 'json'], service.env)
    const findings = JSON.parse(outcome.stdout) as { what: string; state: string; fix?: string }[]
    expect(findings.map((finding) => finding.what)).toEqual(
      expect.arrayContaining(['runtime', 'sandbox', 'containers']),
    )
    for (const finding of findings) if (finding.state !== 'ok') expect(finding.fix).toBeTruthy()
  })
})
