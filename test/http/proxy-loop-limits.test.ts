// Limits of the loop that tools run into, and the settings that go upstream with it.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ToolSpec } from '../../src/contract/kinds/tools/tool.ts'
import { type LoopInstanceOptions, readFrames, startLoop } from '../fixtures/proxy/loops.ts'
import { readError, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { type Say, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'
import { pause, waitFor } from '../fixtures/time.ts'

const open: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.stop()
})

async function start(says: Say[], loopSettings: LoopInstanceOptions['loop'] = {}) {
  const vendor = await startStrictVendor((_body, count) => says[count - 1] ?? {})
  open.push(vendor)
  const loop = await startLoop({ upstream: { type: 'llma', url: vendor.url }, loop: loopSettings })
  open.push(loop)
  return { vendor, loop }
}

const request = (more: object = {}) => ({
  model: 'vendor/model-1',
  max_tokens: 2000,
  messages: [{ role: 'user', content: 'hello' }],
  ...more,
})

/** Takes requests and never answers. */
async function startSilence(): Promise<{ server: Server; url: string; left: Promise<void> }> {
  let leave = () => {}
  const left = new Promise<void>((resolve) => {
    leave = resolve
  })
  const server = createServer((_incoming, response) => void response.once('close', leave))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({ stop: async () => server.closeAllConnections() })
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, left }
}

describe('--chat-tool-timeout', () => {
  it('ends a tool of the loop that takes too long; the model is told and goes on [LLMA-036]', async () => {
    const silence = await startSilence()
    const says: Say[] = [{ calls: [{ id: 'toolu_1', name: 'slow', args: {} }] }, { text: 'without it then' }]
    const { vendor, loop } = await start(says, { toolTimeoutMs: 1500 })
    const spec = ToolSpec.parse({ description: 'never answers', http: { url: silence.url } })
    await loop.ports.resources.create('Tool', { metadata: { namespace: 'default', name: 'slow' }, spec })
    const answer = await loop.loop(loop.makeCall(request()))
    expect(answer).toMatchObject({ status: 200, body: { stop_reason: 'end_turn' } })
    const messages = vendor.asked[1]?.body.messages as { content: unknown }[]
    expect(messages.at(-1)?.content).toMatchObject([
      {
        type: 'tool_result',
        tool_use_id: 'toolu_1',
        is_error: true,
        content: expect.stringContaining('"success":false'),
      },
    ])
    expect(JSON.stringify(messages.at(-1))).toMatch(/time/i)
    await silence.left
    silence.server.close()
  })
})

describe('a streamed turn with hundreds of calls', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ id: `toolu_${at}`, name: 'file_read', args: { path: `${at}.txt` } }))

  it('ends even when the client reads more slowly than the tools answer', async () => {
    const { loop } = await start([{ calls: many(300) }, { text: 'all of them' }], { maxToolCalls: 300 })
    const answer = await loop.loop(loop.makeCall(request({ stream: true })))
    if (!('send' in answer)) throw new Error('the answer is not streamed')
    let text = ''
    await answer.send((part) => {
      text += part
      return pause(2)
    })
    expect(text.match(/\[Tool file_read result\]/g)).toHaveLength(300)
    expect(text).toContain('event: message_stop')
  })

  it('ends at --chat-max-duration when the client does not read at all', async () => {
    const { loop } = await start([{ calls: many(300) }, { text: 'unread' }], { maxToolCalls: 300, maxDurationMs: 1500 })
    const answer = await loop.loop(loop.makeCall(request({ stream: true })))
    // Until the run is over: what it writes then stands before the end.
    await pause(2500)
    const text = (await readFrames(answer)).join('')
    expect(text).toContain('The time limit was reached')
    expect(text).toContain('event: message_stop')
  })

  it('runs 128 of them, and tells the model that the others were not run', async () => {
    const { vendor, loop } = await start([{ calls: many(200) }, { text: 'done' }])
    await readFrames(await loop.loop(loop.makeCall(request({ stream: true }))))
    const messages = vendor.asked[1]?.body.messages as { content: { content: string }[] }[]
    const results = messages.at(-1)?.content.map(({ content }) => content) ?? []
    expect(results).toHaveLength(200)
    expect(results.filter((text) => text.includes('too_many_calls'))).toHaveLength(72)
  })
})

describe('the size of a request', () => {
  it('is limited by the number of values where it is parsed, and by the length of a model name', async () => {
    const folder = await startProxied()
    open.push(folder)
    await folder.addProvider('vendor')
    const headers = { 'x-svc-tools': 'enabled' }
    const blocks = Array.from({ length: 21_000 }, () => 1)
    const many = await folder.ask(
      '/llma/v1/messages',
      { model: 'vendor/m', max_tokens: 9, messages: blocks },
      { headers },
    )
    expect([many.status, (await readError(many)).error.message]).toEqual([413, expect.stringContaining('20000 values')])
    const long = await folder.ask('/llma/v1/messages', simpleMessage(`vendor/${'m'.repeat(300)}`))
    expect([long.status, (await readError(long)).error.message]).toEqual([400, expect.stringContaining('256')])
  })

  it('counts as one of a limited number of loops, beyond which callers get 429', async () => {
    const loops = { max: 1, perNamespace: 1, perCaller: 1 }
    const folder = await startProxied({ proxy: { loops } })
    open.push(folder)
    await folder.addProvider('vendor')
    let release = () => {}
    folder.upstream.script.answer = ({ response }) => {
      release = () => void response.end()
    }
    const headers = { 'x-svc-tools': 'enabled' }
    const first = folder.ask('/llma/v1/messages', simpleMessage('vendor/m'), { headers }).catch(() => undefined)
    await waitFor(() => folder.upstream.received.length === 1, 'the first to be under way')
    const second = await folder.ask('/llma/v1/messages', simpleMessage('vendor/m'), { headers })
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '5'])
    release()
    await first
    folder.upstream.reset()
    expect((await folder.ask('/llma/v1/messages', simpleMessage('vendor/m'), { headers })).status).toBe(200)
  })
})

describe('the settings of a request', () => {
  it('go upstream with every call of the loop [PROXY-016]', async () => {
    const write = { id: 'toolu_1', name: 'file_write', args: { path: 'a.txt', content: 'x' } }
    const { vendor, loop } = await start([{ calls: [write] }, { text: 'done' }])
    const settings = {
      top_k: 7,
      top_p: 0.25,
      stop_sequences: ['END'],
      metadata: { user_id: 'user-1' },
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 1024 },
    }
    await loop.loop(loop.makeCall(request(settings)))
    expect(vendor.asked).toHaveLength(2)
    for (const { body } of vendor.asked) expect(body).toMatchObject(settings)
  })
})
