import { expect, it } from 'vitest'
import type { WorkAssignment } from '../contract/api/tasks/assignment.ts'
import type { EndSubmit } from '../contract/api/tasks/attempt-end.ts'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import { runReported } from './reported-run.ts'

const assignment = {
  api: { url: 'http://service.test', token: 'worker-token' },
  task: { namespace: 'default', name: 'report', uid: 'uid-1', attempt: 1 },
  redact: [],
  customTools: [],
  model: { choices: [] },
} as unknown as WorkAssignment

it('hands in with the end what the service refuses of the log while the run ends', async () => {
  const asked = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<Response>()
  const ends: EndSubmit[] = []
  const doFetch = async (input: unknown, init?: { body?: unknown }) => {
    if (String(input).includes('/logs/')) {
      asked.resolve()
      return refused.promise
    }
    ends.push(JSON.parse(String(init?.body)))
    return new Response(null, { status: 204 })
  }
  const deps = { clock, ids, fetch: doFetch } as never
  const run = runReported(assignment, { deps, signal: new AbortController().signal }, async ({ log }) => {
    log.write('the first line')
    await asked.promise
    log.write('the last line')
    // Answered only when nothing waits but the end.
    setImmediate(() => refused.resolve(Response.json({ error: { reason: 'InvalidRequest' } }, { status: 400 })))
    return { outcome: { ok: true }, result: 'All is well.' }
  })
  expect(await run).toEqual({ ok: true })
  expect(ends).toHaveLength(1)
  const [end] = ends
  expect(end).toMatchObject({ ok: true, result: 'All is well.' })
  expect(end?.log).toMatch(/the first line\n.*the last line\n$/s)
})
