// Long conversations of the vendors' own clients with mixed tools, over two instances that share nothing but what the client sends.
import Anthropic from '@anthropic-ai/sdk'
import { LLMock } from '@copilotkit/aimock'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Family } from '../../src/llm/messages/messages.ts'
import { type LoopInstance, startLoop } from '../fixtures/proxy/loops.ts'
import { type Say, type StrictVendor, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'
import { useSharedService } from './shared-service.ts'

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.stop()
})

let made = 0
const call = (name: string, args: object) => ({ id: `call_${++made}`, name, args })
const write = (path: string) => call('file_write', { path, content: 'tulip\nrose' })
const read = (path: string) => call('file_read', { path })
const lookup = (q: string) => call('lookup', { q })

/** Five turns of a user; each answer of the model, and the client's own tool in between. */
function makeScript(): Say[] {
  return [
    { thinking: 'first', text: 'I write.', calls: [write('a.txt')] },
    { thinking: 'second', text: 'Written.' },

    { text: 'I look it up.', calls: [lookup('one')] },
    { text: 'Found.' },

    { thinking: 'mixed', text: 'Both.', calls: [read('a.txt'), lookup('two'), read('missing.txt')] },
    { text: 'Both done.' },

    { calls: [write('b.txt')] },
    { calls: [read('b.txt'), lookup('three'), lookup('four')] },
    { calls: [lookup('five')] },
    { text: 'Four at last.' },

    { thinking: 'parallel', calls: [read('a.txt'), read('b.txt'), call('no_such_tool', {})] },
    { text: 'The end.' },
  ]
}

const endings = ['Written.', 'Found.', 'Both done.', 'Four at last.', 'The end.']

async function startReplicas(
  type: Family,
  family: Family,
): Promise<{ vendor: StrictVendor; replicas: LoopInstance[] }> {
  const script = makeScript()
  const vendor = await startStrictVendor((_body, count) => script[count - 1] ?? { text: 'too much' })
  open.push(vendor)
  const replicas = await Promise.all([0, 1].map(() => startLoop({ upstream: { type, url: vendor.url }, family })))
  open.push(...replicas)
  return { vendor, replicas }
}

/** How a client answers calls: only its own, or every one that it sees, as automatic tool runners do. */
type Manner = 'own' | 'all'

async function talkLlma(clients: Anthropic[], streams: boolean, manner: Manner): Promise<string[]> {
  const messages: Anthropic.MessageParam[] = []
  const answers: string[] = []
  let turn = 0
  const ask = async (): Promise<Anthropic.Message> => {
    const client = clients[turn++ % clients.length]
    if (client === undefined) throw new Error('no client')
    const tools: Anthropic.Tool[] = [{ name: 'lookup', input_schema: { type: 'object' } }]
    const body = { model: 'vendor/model-1', max_tokens: 500, messages, tools }
    return streams ? client.messages.stream(body).finalMessage() : client.messages.create(body)
  }
  for (const question of ['one', 'two', 'three', 'four', 'five']) {
    messages.push({ role: 'user', content: question })
    let message = await ask()
    while (message.stop_reason === 'tool_use') {
      messages.push({ role: 'assistant', content: message.content })
      const uses = message.content.filter((block) => block.type === 'tool_use')
      const answered = uses.filter((use) => manner === 'all' || use.name === 'lookup')
      const results = answered.map(
        ({ id, name }): Anthropic.ToolResultBlockParam =>
          name === 'lookup'
            ? { type: 'tool_result', tool_use_id: id, content: `found ${id}` }
            : { type: 'tool_result', tool_use_id: id, content: 'no such tool', is_error: true },
      )
      messages.push({ role: 'user', content: results })
      message = await ask()
    }
    messages.push({ role: 'assistant', content: message.content })
    const last = message.content.at(-1)
    answers.push(last?.type === 'text' ? last.text : '')
  }
  return answers
}

async function talkLlmo(clients: OpenAI[], streams: boolean): Promise<string[]> {
  const messages: OpenAI.ChatCompletionMessageParam[] = []
  const answers: string[] = []
  let turn = 0
  const ask = async (): Promise<OpenAI.ChatCompletionMessage> => {
    const client = clients[turn++ % clients.length]
    if (client === undefined) throw new Error('no client')
    const tools: OpenAI.ChatCompletionTool[] = [
      { type: 'function', function: { name: 'lookup', parameters: { type: 'object' } } },
    ]
    const body = { model: 'vendor/model-1', messages, tools }
    const answer = streams
      ? await client.chat.completions.stream(body).finalChatCompletion()
      : await client.chat.completions.create(body)
    const message = answer.choices[0]?.message
    if (message === undefined) throw new Error('no choice')
    return message
  }
  for (const question of ['one', 'two', 'three', 'four', 'five']) {
    messages.push({ role: 'user', content: question })
    let message = await ask()
    while (message.tool_calls?.length) {
      messages.push(message)
      for (const { id } of message.tool_calls) messages.push({ role: 'tool', tool_call_id: id, content: `found ${id}` })
      message = await ask()
    }
    messages.push(message)
    answers.push(message.content?.split('\n').at(-1) ?? '')
  }
  return answers
}

const upstreams = ['llma', 'llmo'] as const

describe.each(upstreams)('five turns with mixed tools over two instances and a vendor of type %s', (type) => {
  it.each([
    [true, 'own'],
    [true, 'all'],
    [false, 'own'],
  ] as const)(
    'by the llma client, streamed %s, answering %s calls [PROXY-011, PROXY-014, PROXY-022, LLMA-023]',
    async (streams, manner) => {
      const { vendor, replicas } = await startReplicas(type, 'llma')
      const clients = replicas.map(
        ({ fetch }) => new Anthropic({ apiKey: 'x', baseURL: 'http://svc', fetch, maxRetries: 0 }),
      )
      expect(await talkLlma(clients, streams, manner)).toEqual(endings)
      expect(vendor.asked).toHaveLength(makeScript().length)
      const last = JSON.stringify(vendor.asked.at(-1)?.body.messages)
      expect(last).toContain('found call_')
      expect(last).not.toContain('svc_')
      expect(last).not.toContain('[Tool')
      expect(last).not.toContain('no longer available')
    },
  )

  it.each([true, false])('by the llmo client, streamed %s [PROXY-011, PROXY-014, PROXY-022]', async (streams) => {
    const { vendor, replicas } = await startReplicas(type, 'llmo')
    const clients = replicas.map(
      ({ fetch }) => new OpenAI({ apiKey: 'x', baseURL: 'http://svc/v1', fetch, maxRetries: 0 }),
    )
    expect(await talkLlmo(clients, streams)).toEqual(endings)
    expect(vendor.asked).toHaveLength(makeScript().length)
    const last = JSON.stringify(vendor.asked.at(-1)?.body.messages)
    expect(last).toContain('found call_')
    expect(last).not.toContain('[Tool')
    expect(last).not.toContain('no longer available')
  })
})

describe('the service itself, with a vendor double over a real socket', () => {
  const shared = useSharedService('proxy-loop')
  let vendor: LLMock
  const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }

  beforeAll(async () => {
    vendor = new LLMock({ port: 0 })
    await vendor.start()
    await shared.service.call('POST', '/api/v1/secrets', {
      name: 'vendor',
      stringData: { 'api-key': 'made-up-key-000000' },
    })
    for (const [type, suffix] of [
      ['llma', ''],
      ['llmo', '/v1'],
    ] as const) {
      const spec = {
        type,
        baseURL: `${vendor.url}${suffix}`,
        defaultModel: 'm',
        secretRef: { name: 'vendor', key: 'api-key' },
      }
      const made = await shared.service.call('POST', '/api/v1/providers', { name: `a-${type}`, spec })
      expect(made.status).toBe(201)
    }
    const args = JSON.stringify({ path: 'word.txt', content: 'tulip' })
    vendor.on(
      { userMessage: /remember/, hasToolResult: false },
      { toolCalls: [{ name: 'file_write', arguments: args }], usage },
    )
    vendor.on({ userMessage: /remember/, hasToolResult: true }, { content: 'It is kept.', usage })
  })
  afterAll(async () => {
    await vendor.stop()
  })

  it.each(['a-llma', 'a-llmo'])(
    'runs the loop for the llma client, streamed and whole, with provider %s [LLMA-002, LLMA-027, LLMA-032, PROXY-006, PROXY-022]',
    async (provider) => {
      const client = new Anthropic({
        apiKey: shared.service.token,
        baseURL: `${shared.service.url}/llma`,
        maxRetries: 0,
      })
      const body = {
        model: `${provider}/m`,
        max_tokens: 100,
        messages: [{ role: 'user' as const, content: 'remember tulip' }],
      }
      const streamed = await client.messages.stream(body).finalMessage()
      expect(streamed.content.map((block) => block.type)).toEqual(['tool_use', 'text', 'text'])
      expect(streamed.content[1]).toMatchObject({
        text: expect.stringMatching(/^\[Tool file_write result\]: \{"success":true/),
      })
      expect(streamed).toMatchObject({ stop_reason: 'end_turn', usage: { output_tokens: 18 } })
      expect((await client.messages.create(body)).content).toMatchObject([{ type: 'text', text: 'It is kept.' }])
    },
  )

  it.each(['a-llma', 'a-llmo'])(
    'runs the loop for the llmo client, streamed and whole, with provider %s [LLMO-002, LLMO-003, LLMO-005, PROXY-006, PROXY-022]',
    async (provider) => {
      const client = new OpenAI({
        apiKey: shared.service.token,
        baseURL: `${shared.service.url}/llmo/v1`,
        maxRetries: 0,
      })
      const body = { model: `${provider}/m`, messages: [{ role: 'user' as const, content: 'remember tulip' }] }
      const streamed = await client.chat.completions.stream(body).finalChatCompletion()
      expect(streamed.choices[0]?.message.content).toMatch(
        /\[Tool file_write result\]: .*"success":true.*\n\nIt is kept\.$/,
      )
      const whole = await client.chat.completions.create(body)
      expect(whole.choices[0]?.message.content).toBe('It is kept.')
    },
  )
})
