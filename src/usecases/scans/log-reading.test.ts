import { expect, it } from 'vitest'
import { readLog } from './log-reading.ts'

const log = Buffer.from(JSON.stringify({ version: '2.1.0', runs: [] }))

const ask = (text: string) =>
  readLog('a', { read: async () => Buffer.from(text), signal: new AbortController().signal })

it('refuses a log that would be more in memory than a thread may have, before it is parsed', async () => {
  const empty = '{},'.repeat(2_500_000)
  const read = await ask(`{"version":"2.1.0","runs":[${empty}{}]}`)
  expect(read).toEqual({ fault: 'it has more than 4000000 values; import it in parts' })
})

it('reads a usual log of 32 MiB', async () => {
  const region = { startLine: 12, startColumn: 3, endLine: 12, endColumn: 40, snippet: { text: 'run(input)' } }
  const location = { physicalLocation: { artifactLocation: { uri: 'src/a.ts' }, region } }
  const result = { ruleId: 'r', level: 'error', message: { text: 'unsafe' }, locations: [location] }
  const related = Array.from({ length: 7 }, () => location)
  const results = Array.from({ length: 25_000 }, () => ({ ...result, relatedLocations: related }))
  const runs = [{ tool: { driver: { name: 'scanner' } }, results }]
  expect(await ask(JSON.stringify({ version: '2.1.0', runs }))).toMatchObject({
    tools: ['scanner'],
    resultCount: 25_000,
  })
})

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
