// The real service as an operator hardens it: TLS whose files are renewed, callers kept apart, and an audit log that stays.
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { AuditItem } from '../../src/contract/api/identity/audit.ts'
import { type Certificate, get, hasOpenssl, makeAgent, makeCertificate, readServed } from '../fixtures/certificates.ts'
import { waitFor } from '../fixtures/time.ts'
import { createTask, launchSvc, removeFolder, type Service, startService, waitForPhase } from './service.ts'

const stops: (() => unknown)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

async function start(flags: string[], options: { folder?: string; env?: NodeJS.ProcessEnv } = {}): Promise<Service> {
  const service = await startService({ flags, ...options })
  stops.push(async () => {
    await service.stop()
    removeFolder(service.folder)
  })
  return service
}

function make(name: string): Certificate {
  const made = makeCertificate(name)
  stops.push(made.remove)
  return made
}

describe.skipIf(!hasOpenssl)('a service with TLS (skipped where openssl is not installed)', () => {
  it('serves HTTPS, runs tasks on this machine, and takes renewed files without a restart', async () => {
    const [first, second] = [make('first'), make('second')]
    const flags = ['--tls-cert-file', first.certFile, '--tls-key-file', first.keyFile]
    const service = await start([...flags, '--allow-unsandboxed'])
    expect(service.url).toMatch(/^https:/)
    const env = { ...service.env, NODE_EXTRA_CA_CERTS: first.certFile }
    const agent = makeAgent(first.cert)
    const headers = { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' }
    const post = (path: string, body: object) =>
      get(`${service.url}${path}`, agent, { method: 'POST', headers, body: JSON.stringify(body) })
    await post('/api/v1/providers', { name: 'demo', spec: { type: 'demo' } })
    const ai = { providerRef: { name: 'demo' } }
    expect((await post('/api/v1/tasks', { name: 'over-tls', type: 'ai', prompt: 'say hello', ai })).status).toBe(201)
    const read = async () => JSON.parse((await get(`${service.url}/api/v1/tasks/over-tls`, agent, { headers })).text)
    const hasEnded = async () => ['Succeeded', 'Failed'].includes((await read()).status?.phase)
    await waitFor(hasEnded, 'the task to end')
    expect((await read()).status).toMatchObject({ phase: 'Succeeded' })
    const listed = await launchSvc(['task', 'list'], env)
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining('over-tls')])
    copyFileSync(second.certFile, first.certFile)
    copyFileSync(second.keyFile, first.keyFile)
    await waitFor(async () => (await readServed(service.url)) === 'second', 'the new certificate')
    expect(await get(`${service.url}/healthz`, agent)).toMatchObject({ status: 200, reused: true })
    expect(service.output()).toContain('the TLS certificate was renewed')
    agent.destroy()
  })

  it('does not start with one file alone, or with files that do not fit', async () => {
    const [one, other] = [make('one'), make('other')]
    for (const flags of [
      ['--tls-cert-file', one.certFile],
      ['--tls-cert-file', one.certFile, '--tls-key-file', other.keyFile],
    ]) {
      await expect(startService({ flags })).rejects.toThrow(/tls|TLS/)
    }
  })
})

describe('a service that keeps callers apart', () => {
  it('serves one namespace only, and lets nobody in who has none', async () => {
    const service = await start(['--watch-namespace', 'team', '--enforce-namespace-isolation'])
    const task = { name: 'here', type: 'container', command: ['true'] }
    expect((await service.call<{ metadata: object }>('POST', '/api/v1/tasks', task)).body.metadata).toMatchObject({
      namespace: 'team',
    })
    const elsewhere = await service.call('POST', '/api/v1/tasks', { ...task, namespace: 'other' })
    expect(elsewhere).toMatchObject({ status: 403, body: { error: { reason: 'Forbidden' } } })
    const make = async (body: object) =>
      (await service.call<{ token: string }>('POST', '/api/v1/tokens', body)).body.token
    const ask = async (token: string, query = '') => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${service.url}/api/v1/tasks${query}`, { headers })).status
    }
    const [homeless, mate, stranger] = [
      await make({ name: 'homeless' }),
      await make({ name: 'mate', namespace: 'team' }),
      await make({ name: 'stranger', namespace: 'other' }),
    ]
    expect(await ask(homeless)).toBe(403)
    expect([await ask(mate), await ask(mate, '?namespace=other')]).toEqual([200, 403])
    expect([await ask(stranger), await ask(stranger, '?namespace=team')]).toEqual([403, 403])
  })
})

describe('the audit log of the real service', () => {
  it('stays over a restart', async () => {
    const service = await start(['--allow-unsandboxed'])
    await createTask(service, 'noted', { type: 'container', command: ['true'] })
    await waitForPhase(service, 'noted', 'Succeeded')
    await service.stop()
    expect(existsSync(join(service.folder, 'share'))).toBe(true)
    const again = await start([], { folder: service.folder })
    const { body } = await again.call<{ items: AuditItem[] }>('GET', '/api/v1/audit?kind=Task')
    expect(body.items).toMatchObject([
      { caller: { id: 'owner' }, verb: 'create', name: 'noted', allowed: true, status: 201 },
    ])
  })
})
