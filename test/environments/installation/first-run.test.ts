// The main job as a new user types it: one command, nothing set up before.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Provider } from '../../../src/contract/kinds/providers/provider.ts'
import { waitFor } from '../../fixtures/time.ts'
import { environmentOf, launchSvc, makeFolder, removeFolder, runSvc, startService } from '../../scenarios/service.ts'

let folder: string
beforeEach(() => {
  folder = makeFolder()
})
afterEach(async () => {
  await runSvc(['down', '--yes'], environmentOf(folder))
  removeFolder(folder)
})

describe('svc run', () => {
  it('starts a service, runs a prompt with the demo provider and prints the result [PROV-014, MODE-001]', async () => {
    const env = environmentOf(folder)
    const outcome = await launchSvc(['run', 'write hello to notes.txt, then read notes.txt'], env)
    expect(outcome.stderr).toContain('started a service at http://127.0.0.1:')
    expect(outcome.stderr).toContain('no language model is set up')
    expect(outcome.stdout).toContain('hello')
    expect(outcome.stdout.toLowerCase()).toContain('not a language model')
    expect(outcome.code).toBe(0)
    expect(outcome.stderr).toContain('look closer: ')
  })

  it('takes the service that runs already', async () => {
    const env = environmentOf(folder)
    const first = await launchSvc(['run', '--detach', 'say one'], env)
    const second = await launchSvc(['run', 'say two'], env)
    expect(first.code).toBe(0)
    expect(second.stderr).not.toContain('started a service')
    const list = await runSvc(['task', 'list', '-o', 'json'], env)
    expect(JSON.parse(list.stdout)).toHaveLength(2)
  })

  it('runs code where a sandbox can be had', async () => {
    const outcome = await launchSvc(['run', 'run python: print(6 * 7)'], environmentOf(folder))
    const available = existsSync('/usr/bin/bwrap')
    expect(outcome.stdout).toContain(available ? '42' : 'bubblewrap')
  })
})

describe('svc up', () => {
  it('keeps the generated token for the command line and out of the log [MODE-004, MODE-005, CLI-002]', async () => {
    const service = await startService({ folder })
    const ready = join(folder, 'ready.json')
    expect(statSync(ready).mode & 0o777).toBe(0o600)
    expect(service.output()).not.toContain(service.token)
    const status = await runSvc(['status', '-o', 'json'], service.env)
    expect(JSON.parse(status.stdout)).toMatchObject({ url: service.url, status: 'ok' })
    await service.stop()
  })

  it('listens on loopback and takes a free port when asked for port 0 [MODE-006, CLI-001]', async () => {
    const service = await startService({ folder })
    expect(new URL(service.url).hostname).toBe('127.0.0.1')
    expect(Number(new URL(service.url).port)).toBeGreaterThan(0)
    await service.stop()
  })

  it('uses SVC_BOOTSTRAP_TOKEN as the owner’s token [CLI-003]', async () => {
    const token = `test-${'x'.repeat(24)}`
    const service = await startService({ folder, env: { SVC_BOOTSTRAP_TOKEN: token } })
    expect(service.token).toBe(token)
    expect((await service.call('GET', '/api/v1/auth/validate')).status).toBe(200)
    await service.stop()
  })

  it('refuses a second service on the same data folder and names the first', async () => {
    const service = await startService({ folder })
    await expect(startService({ folder })).rejects.toThrow(String(service.process.pid))
    expect((await service.call('GET', '/readyz')).status).toBe(200)
    await service.stop()
  })

  it('stops when told to, leaves no note behind, and starts again with the same token and data', async () => {
    const first = await startService({ folder })
    const made = await first.call('POST', '/api/v1/agents', { name: 'kept', spec: { systemPrompt: { inline: 'hi' } } })
    expect(made.status).toBe(201)
    expect(await first.stop()).toBe(0)
    const second = await startService({ folder })
    expect(second.token).toBe(first.token)
    expect((await second.call('GET', '/api/v1/agents/kept')).status).toBe(200)
    await second.stop()
  })

  it('makes a provider `default` from a key in the environment without copying the key [MODE-016]', async () => {
    const key = `sk-test-${'k'.repeat(30)}`
    const service = await startService({ folder, env: { ANTHROPIC_API_KEY: key } })
    const provider = await waitFor(async () => {
      const answer = await service.call<Provider>('GET', '/api/v1/providers/default')
      return answer.body.status?.ready === undefined ? undefined : answer.body
    }, 'the provider to be tried')
    expect(provider.spec).toMatchObject({ type: 'llma' })
    // Its key is there; the vendor is away or refuses it.
    const conditions = [{ type: 'Ready', reason: expect.stringMatching(/^(NotReached|CredentialRefused)$/) }, {}]
    expect(provider.status).toMatchObject({ ready: false, conditions })
    await service.stop()
    for (const file of ['svc.db', 'svc.db-wal']) {
      const path = join(folder, 'share', 'svc', file)
      if (existsSync(path)) expect(readFileSync(path).includes(key)).toBe(false)
    }
  })
})
