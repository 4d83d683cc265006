// The coordination tools of a worker over the worker API, and what people see of them.
import { afterEach, expect, it } from 'vitest'
import { openCoordination } from '../../src/worker/ai/tool-host.ts'
import { createWorkerApi } from '../../src/worker/api.ts'
import { aiTask, type Service, type ServiceOptions, startService } from './service.ts'

let service: Service
afterEach(() => service.stop())

const { signal } = new AbortController()

/** The tool as a worker of the task has it, over a socket. */
async function openTool(options: ServiceOptions, name: string) {
  service = await startService(options)
  const url = await service.listen()
  await service.call('POST /api/v1/tasks', { payload: aiTask('job') })
  const { token, identity } = await service.runTask('job')
  const task = { namespace: identity.namespace, name: identity.taskName }
  const api = createWorkerApi({ api: { url, token }, task, clock: service.ports.clock, signal })
  const redact = (text: string) => text.replaceAll('hidden', '***')
  const tool = openCoordination({ coordination: { iteration: 0, coordinates: true } } as never, { api, redact }).find(
    (one) => one.name === name,
  )
  if (tool === undefined) throw new Error(`there is no tool ${name}`)
  return (args: object) => tool.invoke(args as never, undefined as never, signal)
}

it('update_plan keeps a plan that people can read, without secrets [COORD-018]', async () => {
  const update = await openTool({}, 'update_plan')
  const plan = { summary: 'read hidden', plan_document: '- [x] hidden', progress_pct: 40 }
  expect(await update(plan)).toMatchObject({ success: true })
  const read = await service.call('GET /api/v1/tasks/job/plan')
  expect(read.json()).toMatchObject({ Summary: 'read ***', PlanDocument: '- [x] ***', ProgressPct: 40, Iteration: 0 })
  expect(await update({ ...plan, progress_pct: 140 })).toMatchObject({ errorType: 'invalid_arguments' })
  const after = await service.call('GET /api/v1/tasks/job/plan')
  expect(after.json().ProgressPct).toBe(40)
})

it('update_plan is a structured error with --plan-store none [PLAN-016]', async () => {
  const update = await openTool({ withoutPlans: true }, 'update_plan')
  expect(await update({ summary: 's', plan_document: 'd' })).toEqual({
    success: false,
    error: 'plan store not configured',
    errorType: 'not_configured',
    suggestion: expect.any(String),
  })
})
