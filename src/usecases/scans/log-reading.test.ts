import { expect, it } from 'vitest'
import { readLog } from './log-reading.ts'

const log = Buffer.from(JSON.stringify({ version: '2.1.0', runs: [] }))

it('receives no more bodies at once than there is room for, and none that nobody waits for any more', async () => {
  const received: string[] = []
  const release = Promise.withResolvers<Uint8Array>()
  const over = new AbortController()
  const send = (who: string, signal = new AbortController().signal) =>
    readLog(who, {
      signal,
      read() {
        received.push(who)
        return release.promise
      },
    })
  const first = ['a', 'b', 'c'].map((who) => send(who))
  const given = send('gone', over.signal)
  const next = send('d')
  over.abort(new Error('the client has gone'))
  await expect(given).rejects.toThrow('the client has gone')
  expect(received).toEqual(['a', 'b', 'c'])
  release.resolve(log)
  expect(await Promise.all([...first, next])).toHaveLength(4)
  expect(received).toEqual(['a', 'b', 'c', 'd'])
})
