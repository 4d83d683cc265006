// Whole ai tasks with a double of each vendor family over a real socket.
import { LLMock } from '@copilotkit/aimock'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Provider } from '../../src/contract/kinds/providers/provider.ts'
import { waitFor } from '../fixtures/time.ts'
import { createTask, readResult, waitForPhase } from './service.ts'
import { useSharedService } from './shared-service.ts'

const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
const shared = useSharedService('vendors')
let vendor: LLMock

beforeAll(async () => {
  await shared.service.call('POST', '/api/v1/secrets', {
    name: 'vendor',
    stringData: { 'api-key': 'made-up-key-000000' },
  })
})
beforeEach(async () => {
  vendor = new LLMock({ port: 0 })
  await vendor.start()
})
afterEach(() => vendor.stop())

async function makeProvider(name: string, type: string, baseURL: string): Promise<void> {
  const spec = { type, baseURL, defaultModel: 'test-model', secretRef: { name: 'vendor', key: 'api-key' } }
  const answer = await shared.service.call('POST', '/api/v1/providers', { name, spec })
  expect(answer.status).toBe(201)
}

describe.each([
  ['llma', ''],
  ['llmo', '/v1'],
])('an ai task with a provider of type %s', (type, suffix) => {
  it('writes and reads a file by tool calls and keeps the answer', async () => {
    vendor.on(
      { userMessage: /remember the word/, sequenceIndex: 0 },
      { toolCalls: [{ name: 'file_write', arguments: JSON.stringify({ path: 'word.txt', content: 'tulip' }) }], usage },
    )
    vendor.on(
      { userMessage: /remember the word/, sequenceIndex: 1 },
      { toolCalls: [{ name: 'file_read', arguments: JSON.stringify({ path: 'word.txt' }) }], usage },
    )
    vendor.on({ userMessage: /remember the word/, sequenceIndex: 2 }, { content: 'The word is tulip.', usage })
    await makeProvider(`vendor-${type}`, type, `${vendor.url}${suffix}`)
    await createTask(shared.service, `words-${type}`, {
      type: 'ai',
      ai: { providerRef: { name: `vendor-${type}` }, prompt: 'remember the word tulip' },
    })
    const task = await waitForPhase(shared.service, `words-${type}`, 'Succeeded')
    expect(await readResult(shared.service, `words-${type}`)).toContain('tulip')
    expect(task.status?.usage).toMatchObject({ llmCalls: 3 })
    const logs = await shared.service.call<{ logs: string }>('GET', `/api/v1/tasks/words-${type}/logs?level=debug`)
    expect(logs.body.logs).toContain('file_write')
  })

  it('fails with a sentence to act on when the vendor refuses the key', async () => {
    vendor.on(
      { userMessage: /.*/ },
      { error: { message: 'invalid x-api-key', type: 'authentication_error' }, status: 401 },
    )
    await makeProvider(`refusing-${type}`, type, `${vendor.url}${suffix}`)
    await createTask(shared.service, `refused-${type}`, {
      type: 'ai',
      ai: { providerRef: { name: `refusing-${type}` }, prompt: 'anything' },
    })
    const task = await waitForPhase(shared.service, `refused-${type}`, 'Failed')
    expect(task.status?.message).toMatch(/key|credential/i)
    expect(task.status?.message).toContain(`refusing-${type}`)
    expect(task.status?.conditions?.at(-1)).toMatchObject({ type: 'Complete', reason: 'CredentialRefused' })
    const events = await shared.service.call<{ items: { reason?: string }[] }>(
      'GET',
      `/api/v1/tasks/refused-${type}/events`,
    )
    expect(events.body.items.map(({ reason }) => reason)).toContain('CredentialRefused')
  })
})

describe('the status of a provider', () => {
  type Status = NonNullable<Provider['status']>
  const read = async () => (await shared.service.call<Provider>('GET', '/api/v1/providers/watched')).body.status
  const answering = (status: Status | undefined) => status?.conditions?.find(({ type }) => type === 'Answering')

  it('tells that the calls of a task failed, and that those of the next were answered [PROV-011]', async () => {
    const message = 'invalid x-api-key made-up-key-000000'
    vendor.on({ userMessage: /no good/ }, { error: { message, type: 'authentication_error' }, status: 401 })
    vendor.on({ userMessage: /all is well/ }, { content: 'So it is.', usage })
    await makeProvider('watched', 'llma', vendor.url)
    const ask = (name: string, prompt: string) =>
      createTask(shared.service, name, { type: 'ai', ai: { providerRef: { name: 'watched' }, prompt } })
    await ask('unwelcome', 'this is no good')
    await waitForPhase(shared.service, 'unwelcome', 'Failed')
    const failing = await waitFor(async () => {
      const status = await read()
      return answering(status)?.status === 'False' ? status : undefined
    }, 'the failure to be told')
    expect(answering(failing)?.message).toMatch(/the last call failed: .*refused the API key.*HTTP 401/)
    expect(failing.lastError).toContain('HTTP 401')
    expect(JSON.stringify(failing)).not.toContain('made-up-key-000000')

    await ask('welcome', 'all is well')
    await waitForPhase(shared.service, 'welcome', 'Succeeded')
    const good = await waitFor(async () => {
      const status = await read()
      return answering(status)?.status === 'True' ? status : undefined
    }, 'the answer to be told')
    expect(good.lastError).toBeUndefined()
  })
})
