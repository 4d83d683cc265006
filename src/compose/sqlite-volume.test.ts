import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Leadership } from '../ports/service/leadership.ts'
import { createClosing } from '../service/closing.ts'
import { openVolume } from './sqlite-volume.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'svc-volume-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** One leads at a time, in the order of asking. */
function createElection() {
  let last = Promise.resolve()
  return (): Leadership => {
    const term = Promise.withResolvers<void>()
    return {
      async acquire() {
        const before = last
        last = before.then(() => term.promise)
        await before
        return new AbortController().signal
      },
      requireTerm: () => undefined,
      release: async () => term.resolve(),
    }
  }
}

it('lets one replica open the records on a volume, and another only when the first is gone [MODE-011]', async () => {
  const stand = createElection()
  const logged: string[] = []
  const start = () => {
    const [leadership, closing] = [stand(), createClosing()]
    closing.add(() => leadership.release())
    const log = { info: (message: unknown) => void logged.push(String(message)) }
    return { closing, opened: openVolume({ dataDir, leadership, log }, closing) }
  }
  const first = start()
  const { records } = await first.opened
  const key = { namespace: 'default', name: 'kept' }
  await records.sessions.ensure(key, { create: true, sessionType: 'chat' })
  const second = start()
  let isOpen = false
  const opened = second.opened.then((stores) => {
    isOpen = true
    return stores
  })
  await records.sessions.get(key)
  expect(isOpen).toBe(false)
  expect(logged).toEqual(Array(2).fill('records are in SQLite: one replica serves, others wait'))
  await first.closing.run()
  expect(await (await opened).records.sessions.get(key)).toBeDefined()
  await second.closing.run()
})
