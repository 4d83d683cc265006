// Counts of streams whose client did not ask for them, and what passes when there is nothing to add.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Proxied, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { answerJson, type Received } from '../fixtures/proxy/upstream.ts'
import { waitFor } from '../fixtures/time.ts'

const completions = '/llmo/v1/chat/completions'
const messages = '/llma/v1/messages'

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: [] })
  await proxied.addProvider('vendor')
})
afterAll(() => proxied.stop())
afterEach(() => proxied.upstream.reset())

const frame = (json: object) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...json })}\n\n`
const words = frame({ choices: [{ index: 0, delta: { content: 'hi' } }], usage: null })
const counts = frame({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } })
const done = 'data: [DONE]\n\n'

function answerStream({ response }: Received): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(`${words}${counts}${done}`)
}

type Sum = { key: string; inputTokens: number; outputTokens: number; llmCalls: number }

async function readUsage(provider: string): Promise<Sum | undefined> {
  const { items } = (await proxied.service.call('GET /api/v1/usage?groupBy=provider')).json() as { items: Sum[] }
  return items.find((item) => item.key.endsWith(provider))
}

describe('the counts of a streamed completion', () => {
  it('are requested when the client does not request them, and then not passed on to it [USAGE-004] [PROXY-003]', async () => {
    await proxied.addProvider('counted', { type: 'llmo' })
    proxied.upstream.script.answer = answerStream
    const text = '{ "stream":true,"model":"counted/m", "messages":[] }'
    const answer = await proxied.ask(completions, text)
    expect(await answer.text()).toBe(`${words}${done}`)
    const asked = '{"stream_options":{"include_usage":true}, "stream":true,"model":"m", "messages":[] }'
    expect(proxied.upstream.last().body.toString()).toBe(asked)
    await waitFor(async () => (await readUsage('counted'))?.llmCalls === 1, 'the call to be tallied')
    expect(await readUsage('counted')).toMatchObject({ inputTokens: 7, outputTokens: 3 })
  })

  it('are passed on to a client that requests them, whose request stays unchanged [PROXY-003]', async () => {
    await proxied.addProvider('asking', { type: 'llmo' })
    proxied.upstream.script.answer = answerStream
    const more = { stream: true, stream_options: { include_usage: true, future: 1 } }
    expect(await (await proxied.ask(completions, simpleMessage('asking/m', more))).text()).toBe(
      `${words}${counts}${done}`,
    )
    expect(JSON.parse(proxied.upstream.last().body.toString())).toEqual(simpleMessage('m', more))
    const off = { stream: true, stream_options: { include_usage: false, future: 1 } }
    await (await proxied.ask(completions, simpleMessage('asking/m', off))).text()
    expect(JSON.parse(proxied.upstream.last().body.toString())).toEqual(simpleMessage('m', more))
  })

  it('are not requested again from a server that does not support them', async () => {
    await proxied.addProvider('plain', { type: 'llmo', baseURL: `${proxied.upstream.url}/plain/v1` })
    const refusal = answerJson({ error: { message: 'Unknown field: stream_options', type: 'x' } }, 400)
    proxied.upstream.script.answer = (received) =>
      received.body.includes('stream_options') ? refusal(received) : answerStream(received)
    const text = JSON.stringify(simpleMessage('plain/m', { stream: true }))
    for (let count = 0; count < 2; count += 1) {
      const answer = await proxied.ask(completions, text)
      expect([answer.status, await answer.text()]).toEqual([200, `${words}${counts}${done}`])
    }
    expect(proxied.upstream.received.map(({ body }) => body.includes('stream_options'))).toEqual([true, false, false])
  })
})

describe('a request that wants the tools of the service', () => {
  const headers = { 'x-svc-tools': 'enabled' }

  it('is relayed byte for byte while there are none [PROXY-003]', async () => {
    const text = '{ "model": "vendor/m",\n"max_tokens":1e1, "messages":[{"role":"user","content":"hi"}] }'
    expect((await proxied.ask(messages, text, { headers })).status).toBe(200)
    expect(proxied.upstream.last().body.toString()).toBe(text.replace('vendor/m', 'm'))
  })

  it('goes through the loop when it contains earlier calls of the service', async () => {
    const call = { type: 'tool_use', id: 'svc_0123456789ab_toolu_1', name: 'file_read', input: {} }
    const history = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [call, { type: 'text', text: '[Tool file_read result]: x' }] },
      { role: 'user', content: 'on' },
    ]
    expect((await proxied.ask(messages, simpleMessage('vendor/m', { messages: history }), { headers })).status).toBe(
      200,
    )
    expect(proxied.upstream.last().body.toString()).toContain('"tool_use_id":"toolu_1"')
  })

  it('gets a tool as soon as there is one', async () => {
    const http = { url: 'https://tools.test/a', method: 'POST' }
    await proxied.create('/api/v1/tools', {
      name: 'look-up',
      spec: { description: 'd', parameters: {}, http },
    })
    await waitFor(async () => {
      await (await proxied.ask(messages, simpleMessage('vendor/m'), { headers })).text()
      return proxied.upstream.last().body.includes('look-up')
    }, 'the tool to be offered')
  })
})

describe('usage per caller', () => {
  it('is counted by token, whatever names other tokens have', async () => {
    await proxied.addProvider('shared', { type: 'llmo' })
    const counted = { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }
    proxied.upstream.script.answer = answerJson(counted)
    const makeNamesake = async () =>
      (await proxied.service.call('POST /api/v1/tokens', { payload: { name: 'twin' } })).json()
    const namesakes = [await makeNamesake(), await makeNamesake()]
    for (const { token } of [...namesakes, namesakes[0]]) {
      await (await proxied.ask(completions, simpleMessage('shared/m'), { token })).text()
    }
    const readCallers = async () => {
      const { items } = (await proxied.service.call('GET /api/v1/usage?groupBy=caller')).json() as { items: Sum[] }
      return items.filter(({ key }) => namesakes.some(({ id }) => id === key))
    }
    const caller = (id: string) => ({ kind: 'token', id, name: 'twin' })
    await waitFor(async () => (await readCallers()).length === 2, 'both to be tallied')
    await waitFor(async () => (await readCallers())[0]?.llmCalls === 2, 'the last call to be tallied')
    expect(await readCallers()).toMatchObject([
      { key: namesakes[0].id, caller: caller(namesakes[0].id), outputTokens: 6 },
      { key: namesakes[1].id, caller: caller(namesakes[1].id), outputTokens: 3 },
    ])
  })
})
