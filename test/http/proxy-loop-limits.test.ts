// Limits of the loop that tools run into, and the settings that go upstream with it.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { ToolSpec } from '../../src/contract/resources/tool.ts'
import { type LoopInstanceOptions, startLoop } from '../fixtures/proxy/loops.ts'
import { type Say, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'

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
  it('ends a tool of the loop that takes too long; the model is told and goes on [LIM-010, LLMA-036]', async () => {
    const silence = await startSilence()
    const says: Say[] = [{ calls: [{ id: 'toolu_1', name: 'slow', args: {} }] }, { text: 'without it then' }]
    const { vendor, loop } = await start(says, { toolTimeoutMs: 150 })
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
