// Runs of a schedule that are asked for.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runAnnotation } from '../../src/rules/tasks/schedule.ts'
import { aiTask, type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

const run = (name: string) => service.call(`POST /api/v1/tasks/${name}/run`)

it('are named at once, and asked for once until they are made', async () => {
  await service.call('POST /api/v1/tasks', { payload: aiTask('nightly', { schedule: '0 0 1 1 *' }) })
  const first = await run('nightly')
  expect(first.statusCode).toBe(202)
  expect(first.json()).toEqual({ name: expect.stringMatching(/^nightly-\d+$/), namespace: 'default' })
  expect((await run('nightly')).json()).toEqual(first.json())
  const { metadata } = (await service.call('GET /api/v1/tasks/nightly')).json()
  expect(metadata.annotations[runAnnotation]).toMatch(/Z$/)
})

it('are refused for a task without a schedule, one that has ended, and one that is not there', async () => {
  await service.call('POST /api/v1/tasks', { payload: aiTask('once') })
  expect((await run('once')).statusCode).toBe(400)
  await service.call('POST /api/v1/tasks', { payload: aiTask('ended', { schedule: '0 0 1 1 *' }) })
  await service.setStatus('Task', 'ended', { phase: 'Cancelled' })
  expect((await run('ended')).statusCode).toBe(409)
  expect((await run('nobody')).statusCode).toBe(404)
})
