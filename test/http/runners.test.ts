// What runners dial, over the real edge.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runnerLimits, runnerProtocol } from '../../src/contract/api/tasks/runners.ts'
import { systemIds } from '../../src/lib/system-clock.ts'
import { RunnerLink } from '../../src/runtime/local/runners/link.ts'
import { createRunnerTable } from '../../src/runtime/local/runners/table.ts'
import { type Service, startService } from './service.ts'

const token = 'of-a-runner'
let service: Service
beforeAll(async () => {
  const runners = createRunnerTable(systemIds)
  const nothing = () => undefined
  runners.add(new RunnerLink({ name: 'r', credential: token, slots: 1, onSilent: nothing, onIdle: nothing }))
  service = await startService({ runners })
})
afterAll(() => service.stop())

it('a runner renews the lease of as many attempts as it may have', async () => {
  const { slots } = runnerLimits
  const about = { protocol: runnerProtocol, version: '0', slots, attemptBytes: 1, runs: ['ai'], runsCode: false }
  const registered = await service.call('POST /internal/v1/runners', { token, payload: about })
  expect(registered.statusCode, registered.body).toBe(201)
  const { id } = registered.json() as { id: string }
  const attempts = Array.from({ length: slots }, (_, at) => ({ taskUid: `uid-${at}`, attempt: 1, bytes: 1 }))
  const renewal = { slots, lagMs: 0, rssBytes: 1, attempts }
  const renewed = await service.call(`POST /internal/v1/runners/${id}/lease`, { token, payload: renewal })
  expect(renewed.statusCode, renewed.body.slice(0, 300)).toBe(200)
  expect(renewed.json().drop).toHaveLength(slots)
})
