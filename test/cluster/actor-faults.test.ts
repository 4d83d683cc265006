// Agent tasks in actors whose end is not their own: cancelled, deleted, late, and with a service that dies in the middle of
// each step. Nothing is left: no actor, no record, no token that opens anything.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type ActorCluster,
  type AskedTask,
  openActorCluster,
  putTemplate,
  templateOf,
} from '../fixtures/actors/actor-cluster.ts'
import { type ActorsDouble, startActors } from '../fixtures/actors/actors.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { waitFor } from '../fixtures/time.ts'

describeOnCluster('tasks in actors, among faults', () => {
  let double: ActorsDouble
  let bench: ActorCluster

  beforeAll(async () => {
    double = await startActors({ workers: 2 })
    bench = await openActorCluster({ double, prefix: 'actor-faults' })
    await bench.start()
  })
  afterEach(() => {
    double.gate.open()
    double.control.setFault(() => undefined)
    double.router.setIntercept(() => false)
  })
  afterAll(async () => {
    await bench?.close()
    await double?.stop()
  })

  const isEmpty = async (): Promise<boolean> =>
    double.world.list().length === 0 && (await bench.workspaces()).length === 0

  async function expectNothing(): Promise<void> {
    await waitFor(isEmpty, 'no actor and no record to be left')
    expect(double.world.workers.filter(({ actor }) => actor !== undefined)).toEqual([])
  }

  /** What the agent has found in its environment to speak with the service, once it runs. */
  const findToken = () =>
    waitFor(() => {
      const [actor] = double.world.list()
      const file = join(actor?.process?.folder ?? 'none', 'work', 'token')
      return existsSync(file) && readFileSync(file, 'utf8').trim()
    }, 'the agent to have its token')

  /** Whoever may ask for it is told that the vendor is not there. */
  async function isRefused(token: string): Promise<boolean> {
    const body = JSON.stringify({ model: 'unused/test-model', messages: [{ role: 'user', content: 'hello' }] })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(new URL('/llmo/v1/chat/completions', bench.service.url), {
      method: 'POST',
      headers,
      body,
    })
    return answer.status === 401 || answer.status === 403
  }

  type Ending = [name: string, more: object, end: () => Promise<unknown>]
  const endings: Ending[] = [
    ['cancelled', {}, () => bench.call('POST', '/api/v1/tasks/cancelled/cancel', {})],
    ['deleted', {}, () => bench.call('DELETE', '/api/v1/tasks/deleted')],
    ['late', { timeout: '6s' }, async () => undefined],
  ]
  it.each(endings)(
    'one that is %s leaves nothing: no actor, no record, no token that opens anything',
    async (...asked) => {
      const [name, more, end] = asked
      await bench.create(name, bench.taskOf('printenv OPENAI_API_KEY >token; sleep 600', { more }))
      const token = await findToken()
      expect(await isRefused(token)).toBe(false)
      await end()
      await expectNothing()
      await waitFor(() => isRefused(token), 'its token to be refused')
    },
  )

  it('one whose provider is switched off says so at its end; what was retained goes, and new ones are refused', async () => {
    await bench.run('left', 'echo kept >note', { session: 'off', workspace: { cleanupPolicy: 'retain' } })
    await bench.create('runs', bench.taskOf('printenv OPENAI_API_KEY >token; sleep 600'))
    await waitFor(
      async () => (await bench.getTask('runs')).status?.executionWorkspace?.phase === 'Ready',
      'it to be ready',
    )
    await bench.service.kill()
    await bench.start({ without: true })
    const task = await bench.finish('runs')
    expect(task.status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('actor is not enabled') })
    const body = { name: 'refused', namespace: bench.tasks, spec: bench.taskOf('true') }
    const { status, body: told } = await bench.call('POST', '/api/v1/tasks', body)
    expect([status, JSON.stringify(told)]).toEqual([
      400,
      expect.stringContaining('actor is not enabled on this service'),
    ])
    await expectNothing()
    await bench.service.stop()
    await bench.start()
  })

  it('one whose agent program the template does not name is refused, at once or when it starts', async () => {
    const { make, tasks } = bench
    await putTemplate('bare', tasks, templateOf('opencode'))
    double.serve(tasks, { bare: ['true'] })
    const workspace = { templateRef: { name: 'bare' } }
    const message = expect.stringContaining(
      'has no agent program shell; its annotation svc.ai/agent-runtimes has opencode',
    )
    const body = { name: 'unfit', namespace: tasks, spec: bench.taskOf('true', { workspace }) }
    const { status, body: told } = await bench.call<{ error: { details: object[] } }>('POST', '/api/v1/tasks', body)
    expect(status).toBe(400)
    expect(told.error.details).toEqual([{ path: 'spec.execution.workspace.templateRef', message }])
    await bench.apply([
      make('Task', 'applied', bench.taskOf('true', { workspace, more: { retryPolicy: { maxRetries: 0 } } })),
    ])
    const task = await bench.finish('applied')
    expect(task.status).toMatchObject({ phase: 'Failed', message })
    expect(task.status?.executionWorkspace).toMatchObject({ phase: 'Failed', reason: 'WorkspaceClaimFailed' })
    await expectNothing()
  })

  describe('the service is killed', () => {
    type Point = [step: string, point: RegExp, time?: number]
    const deleting: Point[] = [
      ['claims', /^before CreateActor/],
      ['has claimed', /^after CreateActor/],
      ['resumes', /^before ResumeActor/],
      ['has resumed', /^after ResumeActor/],
      ['hands a token over', /^before POST .v1.files/],
      ['has handed a token over', /^after POST .v1.files/],
      ['stages', /^before POST .v1.files/, 2],
      ['has started a command of its own', /^after POST .v1.exec own/, 2],
      ['starts the attempt', /^before POST .v1.exec run-/],
      ['has started the attempt', /^after POST .v1.exec run-/],
      ['looks at the attempt', /^after GET .v1.exec.run-/, 3],
      ['suspends', /^before SuspendActor/],
      ['deletes', /^before DeleteActor/],
      ['has deleted', /^after DeleteActor/],
    ]
    const retaining: Point[] = [
      ['resumes', /^before ResumeActor/],
      ['has handed a token over', /^after POST .v1.files/],
      ['has started the attempt', /^after POST .v1.exec run-/],
      ['looks at the attempt', /^after GET .v1.exec.run-/, 3],
      ['scrubs', /^before POST .v1.scrub/],
      ['has scrubbed', /^after POST .v1.scrub/],
      ['suspends', /^before SuspendActor/],
      ['has suspended', /^after SuspendActor/],
    ]

    async function killAt([step, point, time]: Point, asked: AskedTask): Promise<void> {
      const name = `${step.replaceAll(' ', '-')}-${asked.session ?? 'alone'}`
      const reached = double.gate.hold(point, time)
      await bench.create(name, bench.taskOf('echo begun >>trace; sleep 0.5; cat trace', asked))
      await reached
      await bench.service.kill()
      double.gate.open()
      await bench.start()
      const task = await bench.finish(name)
      expect([task.status?.phase, task.status?.message]).toEqual(['Succeeded', expect.anything()])
      expect(await bench.result(name)).toContain('begun')
    }

    it.each(deleting)('as it %s: the task succeeds, and its actor is gone', async (...at) => {
      await killAt(at, {})
      await expectNothing()
    })

    it.each(retaining)('as it %s: the task succeeds, and the next of its session finds the files', async (...at) => {
      const asked: AskedTask = { session: 'kept', workspace: { cleanupPolicy: 'retain' } }
      await killAt(at, asked)
      const { text, shown } = await bench.run(`after-${at[0].replaceAll(' ', '-')}`, 'cat trace', asked)
      expect(text).toMatch(/begun/)
      expect(shown).toMatchObject({ phase: 'Retained', reused: true })
      expect(double.world.list()).toMatchObject([{ status: 'STATUS_SUSPENDED' }])
      const [item] = await bench.workspaces()
      await bench.call('DELETE', `/api/v1/workspaces/${item?.name}`)
      await expectNothing()
    })
  })
})
