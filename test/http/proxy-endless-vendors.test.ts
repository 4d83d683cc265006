// Vendors whose answers have no end: the caller is told which provider it was, and the service holds no more than its bound.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerBuffers } from '../../src/lib/buffer-quota.ts'
import { runPlayedTask, startPlayedTasks } from '../fixtures/proxy/played-task.ts'
import { type Proxied, readError, simpleMessage, startProxied } from '../fixtures/proxy/proxied.ts'
import { llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied({ builtinTools: ['file_read'] })
  await proxied.addProvider('vendor')
})
afterAll(() => proxied.stop())

const frame = (json: { type: string; [field: string]: unknown }) =>
  `event: ${json.type}\ndata: ${JSON.stringify(json)}\n\n`
const opening = [
  frame({ type: 'message_start', message: { ...llmaAnswer, content: [], stop_reason: null } }),
  frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
].join('')
const delta = { type: 'text_delta', text: 'x'.repeat(1024 ** 2) }
const piece = Buffer.from(frame({ type: 'content_block_delta', index: 0, delta }))

/** Text for as long as somebody reads it. */
function sendForEver({ response }: Received): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(opening)
  const send = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', send)
  }
  send()
}

describe('answers without end', () => {
  it('are asked for, and paid, once by a task', async () => {
    let asked = 0
    proxied.upstream.script.answer = (received) => {
      asked += 1
      sendForEver(received)
    }
    const played = await startPlayedTasks()
    try {
      expect(await runPlayedTask(played, [{ name: 'v', baseUrl: proxied.upstream.url }])).toBe('AnswerTooLong')
    } finally {
      await played.stop()
    }
    expect(asked).toBe(1)
  })

  it('are 502 and name the provider, many at once, and nothing of them is held then', async () => {
    proxied.upstream.script.answer = sendForEver
    const asked = Array.from({ length: 6 }, () =>
      proxied.ask('/llma/v1/messages', simpleMessage('vendor/m'), { headers: { 'x-svc-tools': 'enabled' } }),
    )
    let most = 0
    const watch = setInterval(() => {
      most = Math.max(most, answerBuffers.bytes)
    }, 5)
    const answers = await Promise.all(asked).finally(() => clearInterval(watch))
    for (const answer of answers) {
      expect(answer.status).toBe(502)
      expect((await readError(answer)).error.message).toMatch(
        /vendor.*(more than 16 MiB of text|together exceed \d+ MiB)/,
      )
    }
    expect(most).toBeLessThanOrEqual(256 * 1024 ** 2)
    expect(answerBuffers.bytes).toBe(0)
  })
})
