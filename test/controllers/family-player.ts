// Plays the workers of a family of tasks: what each does over the worker API, without a process and without a model.
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { isSvcError } from '../../src/errors.ts'
import { createTaskBudgets } from '../../src/usecases/budgets/task-budgets.ts'
import { createChildrenUsecases } from '../../src/usecases/coordination/children.ts'
import { createDelegation } from '../../src/usecases/coordination/delegate.ts'
import { createBudgetLedger } from '../../src/usecases/index.ts'
import type { UsecaseDeps } from '../../src/usecases/service/deps.ts'
import { createWorkerEnd } from '../../src/usecases/tasks/worker/end.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import type { Bench } from './bench.ts'

export type Plan = { agent: string; children: number }

export type FamilyPlayer = {
  /** The most tasks that ran at the same time. */
  most(): number
  /** How many attempts ended with an answer. */
  answered(): number
  /** From now on those that do the work themselves wait before they answer. */
  hold(): void
  /** How many wait. */
  held(): number
  /** Those that wait answer. */
  release(): void
  /** How often a call was made again, because the service could not be reached. */
  repeated(): number
  /** What tasks were refused, in words. */
  refused: string[]
  stop(): Promise<void>
}

function makeDeps({ resources, records, clock, ids, workerTokens }: Bench): UsecaseDeps {
  const ports = { resources, records, clock, ids, workerTokens } as unknown as UsecaseDeps['ports']
  const settings = {
    allowDemoProvider: true,
    ownAddresses: () => [],
    allowNetworks: [],
    idempotencyKey: randomBytes(32),
  }
  return { ports, settings, builtinTools: { names: [], list: async () => [] }, ledger: createBudgetLedger(ports) }
}

/** `planOf`: whom a task of the agent gives work to, seen from how deep it is; undefined: it does the work itself. */
export function playFamily(bench: Bench, planOf: (agent: string, depth: number) => Plan | undefined): FamilyPlayer {
  const deps = makeDeps(bench)
  const delegation = createDelegation(deps)
  const children = createChildrenUsecases(deps)
  const countCall = () => Promise.reject(new Error('there is no model'))
  const worker = createWorkerEnd({ ...deps, taskBudgets: createTaskBudgets(deps.ports) }, { countCall })
  const refused: string[] = []
  let most = 0
  let answered = 0
  let held = 0
  let repeated = 0
  let isOver = false
  let going = Promise.withResolvers<void>()
  going.resolve()

  /** As workers do: what the service cannot store now is handed in again. */
  async function patiently<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!isSvcError(error, 'Unavailable') || isOver) throw error
        repeated += 1
        await pause(50)
      }
    }
  }

  type Spec = Bench['workloads']['started'][number]

  /** False once the service that held the attempt is gone: then another attempt of the same task may run. */
  const isLive = async ({ key }: Spec) => (await bench.workloads.observe(key)).phase === 'Running'

  async function answer(spec: Spec, text: string): Promise<void> {
    await patiently(() => bench.records.results.put(spec.key, Readable.from([Buffer.from(text)]), 'text/plain'))
    if (!(await isLive(spec))) return
    answered += 1
    bench.workloads.succeed(spec.taskName)
  }

  async function makeChildren(spec: Spec, { agent, children: count }: Plan): Promise<string[]> {
    const identity = { ...spec.key, namespace: spec.namespace, taskName: spec.taskName }
    const made: string[] = []
    for (let at = 0; at < count; at += 1) {
      const request = { call: `0-1-${at}`, args: { agent, prompt: `part ${at}` } }
      made.push((await delegation.delegate(identity, identity, request)).taskName)
    }
    return made
  }

  /** The same steps in each attempt: a call that was made before makes nothing new. */
  async function play(spec: Spec): Promise<void> {
    const identity = { ...spec.key, namespace: spec.namespace, taskName: spec.taskName }
    const task = await bench.getTask(spec.taskName)
    const depth = Number(task?.metadata.annotations?.['svc.ai/coordination-depth'] ?? 0)
    const plan = planOf(task?.spec.agentRef?.name ?? '', depth)
    if (plan === undefined) {
      held += 1
      await going.promise
      return answer(spec, 'done')
    }
    const made = await makeChildren(spec, plan)
    const args = { tasks: made, timeout: '1h' }
    const { wait, results } = await children.waitFor(identity, identity, { call: '0-2-w', args })
    if (wait === undefined) return answer(spec, results.map(({ phase, result }) => `${phase} ${result}`).join('|'))
    const end = { ok: false as const, reason: 'Parked', message: 'the run waits', waits: [wait] }
    await worker.submitEnd(identity, identity, end)
    if (await isLive(spec)) bench.workloads.fail(spec.taskName, 'ExitCode', 'the run waits', 'Parked')
  }

  function explain(error: unknown): string {
    return error instanceof Error ? error.message : String(error)
  }

  /** A worker whose attempt is gone is heard by nobody; one that is refused says so and ends. */
  async function playOut(spec: Spec): Promise<void> {
    await play(spec).catch(async (error: unknown) => {
      if (!(await isLive(spec))) return
      refused.push(explain(error))
      await answer(spec, 'refused').catch(() => undefined)
    })
  }

  async function run(): Promise<void> {
    const played = new Set<Promise<void>>()
    for (let next = 0; !isOver; ) {
      const spec = await waitFor(() => (isOver ? 'over' : bench.workloads.started[next]), 'a start')
      if (spec === 'over') break
      next += 1
      most = Math.max(most, bench.workloads.running().length)
      const playing = playOut(spec).finally(() => played.delete(playing))
      played.add(playing)
    }
    await Promise.all(played)
  }

  const running = run()
  return {
    most: () => most,
    answered: () => answered,
    hold: () => {
      going = Promise.withResolvers()
    },
    held: () => held,
    release: () => going.resolve(),
    repeated: () => repeated,
    refused,
    async stop() {
      isOver = true
      going.resolve()
      await running
    },
  }
}
