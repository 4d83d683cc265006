// Somebody on this machine tries tokens, at every door: what the service does for others goes on.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTask, removeFolder, type Service, startService, waitForPhase } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ flags: ['--auth-failures-per-minute', '20'] })
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
})

let tried = 0

/** Tries ever new tokens until they are not even looked at. */
async function floodUntilRefused(path: string, makeToken: (number: number) => string): Promise<void> {
  for (let status = 401; status !== 429; ) {
    tried += 1
    const answer = await fetch(new URL(path, service.url), {
      headers: { authorization: `Bearer ${makeToken(tried)}` },
    })
    await answer.text()
    status = answer.status
    expect([401, 429]).toContain(status)
    expect(tried).toBeLessThan(200)
  }
}

describe('a flood of bad tokens from loopback', () => {
  it('does not stop a task of one word', async () => {
    await service.call('POST', '/api/v1/providers', { name: 'demo', spec: { type: 'demo', defaultModel: 'demo' } })
    await service.call('POST', '/api/v1/agents', { name: 'bot', spec: { providerRef: { name: 'demo' } } })
    const forged = (number: number) => `e30.e30.${'A'.repeat(40)}${number}`
    await floodUntilRefused('/api/v1/tasks', (number) => `guess-${number}`)
    await floodUntilRefused('/internal/v1/plans/default/work', forged)
    await floodUntilRefused('/llmo/v1/models', (number) => `svca_${forged(number)}`)
    await createTask(service, 'word', { type: 'ai', agentRef: { name: 'bot' }, prompt: 'hello' })
    expect((await waitForPhase(service, 'word', 'Succeeded')).status?.attempts).toBe(1)
  })
})
