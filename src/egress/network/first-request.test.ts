import { duplexPair } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readFirstRequest } from './first-request.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** What is made of the pieces, each of which comes alone; the last is the end of what the client says where it is undefined. */
async function read(pieces: (string | undefined)[]) {
  const [client, far] = duplexPair()
  for (const side of [client, far]) side.on('error', () => undefined)
  const found: unknown[] = []
  readFirstRequest(client, {
    destroyAfterMs: 60_000,
    connect: ({ target, rest }) => found.push([target, String(rest)]),
    other: () => found.push(String(client.read())),
  })
  for (const piece of pieces) {
    if (piece === undefined) far.end()
    else far.write(piece)
    await nextTurn()
    await nextTurn()
  }
  return { client, found }
}

describe('the first request of a program', () => {
  it.each([
    [
      ['CON', 'NECT a.example:22 HT', 'TP/1.1\r\nHost: x\r', '\n\r', '\nSSH'],
      ['a.example:22', 'SSH'],
    ],
    [['CONNECT a.example:22 HTTP/1.0\r\n\r\nSSH'], ['a.example:22', 'SSH']],
    [
      ['CONNECT a.example:22 HTTP/1.1\r\nHost: x\r\n\r\n', 'later'],
      ['a.example:22', ''],
    ],
    [['CONNECT  HTTP/1.1\r\n\r\n'], ['', '']],
    [['GET http://a.example/ HT', 'TP/1.1'], 'GET http://a.example/ HT'],
    [['CONNECTS a.example:22 HTTP/1.1\r\n\r\n'], 'CONNECTS a.example:22 HTTP/1.1\r\n\r\n'],
    [['\r\nCONNECT a.example:22'], '\r\nCONNECT a.example:22'],
    [['C', 'OPY'], 'COPY'],
  ])('is a CONNECT or another: %j', async (pieces, request) => {
    const { client, found } = await read(pieces)
    expect([found, client.destroyed]).toEqual([[request], false])
    await vi.advanceTimersByTimeAsync(61_000)
    expect(client.destroyed).toBe(false)
  })

  it.each([
    [['CONNECT a.example:22 HTTP/3\r\n\r\n']],
    [['CONNECT a.example:22\r\n\r\n']],
    [['CONNECT a.example:22 b.example:22 HTTP/1.1\r\n\r\n']],
    [['CONNECT a.example:22 HTTP/1.1\nHost: x\r\n\r\n']],
    [['CONNECT a.example:22 HTTP/1.1\r\n', `X: ${'x'.repeat(70_000)}`]],
    [[`CONNECT a.example:22 HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`]],
    [['CONNECT a.example:22 HTTP/1.1\r\n', undefined]],
    [[undefined]],
  ])('ends who makes none that may be taken: %#', async (pieces) => {
    const { client, found } = await read(pieces)
    expect([found, client.destroyed]).toEqual([[], true])
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each(['', 'CONNECT a.example:22 HTTP/1.1\r\n'])(
    'ends a client that never finishes its first request: %j',
    async (begun) => {
      const { client, found } = await read([begun])
      await vi.advanceTimersByTimeAsync(59_000)
      expect(client.destroyed).toBe(false)
      await vi.advanceTimersByTimeAsync(2000)
      expect([found, client.destroyed]).toEqual([[], true])
    },
  )
})
