// Notes which objects are parts of unfinished tasks with Secrets of other namespaces, and which config maps of any with Secrets,
// where admission policies of the cluster read it: before such a task starts, and anew whenever something may have changed.
import { isDeepStrictEqual } from 'node:util'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { monotonicMs } from '../../lib/clock.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import { listEach } from '../../lookup/listing.ts'
import type { PolicyEntries } from '../../ports/resources/policy-entries.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import { agentKeyOf, listSecretsInside, unfinishedPhases } from '../../rules/tasks/acting.ts'
import { listUsesElsewhere, readUses, type UseTexts, writeUses } from '../../rules/tasks/uses-elsewhere.ts'
import {
  type Controller,
  createTimerSource,
  defineController,
  type Enqueue,
  type KeySource,
} from '../engine/controller.ts'
import { createKindSource, type Observation } from '../engine/kind-source.ts'
import type { ReconcileContext, TaskControllerDeps } from './context.ts'

type UseDeps = Pick<TaskControllerDeps, 'resources' | 'clock'> & { policyEntries: PolicyEntries }

const key = 'uses'
const intervalMs = 600_000
/** Of time between two looks at all tasks: so many times what one takes, within these bounds. */
const pause = { times: 20, minMs: 1000, maxMs: 60_000 }

/** False for the echo of most writes of status. */
function mayChangeUses({ type, object }: Observation<Task>): boolean {
  const { metadata, spec, status } = object
  if (spec.agentRef === undefined && listSecretsInside(object, undefined).length === 0) return false
  return type !== 'MODIFIED' || isTerminalPhase(status?.phase) || status?.observedGeneration !== metadata.generation
}

function createSources({ resources, clock }: UseDeps, mark: (enqueue: Enqueue) => void): KeySource[] {
  const others = (['Agent', 'Provider'] as const).map((kind) =>
    createKindSource({ kind, resources, clock, resync: [], onObject: (_seen, enqueue) => mark(enqueue) }),
  )
  return [
    createTimerSource(key, { firstMs: 0, intervalMs }, (ms, signal) => clock.sleep(ms, signal)),
    createKindSource({
      kind: 'Task',
      resources,
      clock,
      resync: [],
      onObject: (seen, enqueue) => void (mayChangeUses(seen) && mark(enqueue)),
    }),
    ...others,
  ]
}

async function listProviders(resources: Resources): Promise<Provider[]> {
  const providers: Provider[] = []
  for await (const provider of listEach(resources, 'Provider', {})) providers.push(provider)
  return providers
}

/** Every unfinished task, so that what has ended is left out. */
async function listAll({ resources }: UseDeps): Promise<UseTexts> {
  const providers = await listProviders(resources)
  const uses: ReturnType<typeof readUses> = []
  for await (const task of listEach(resources, 'Task', { fields: { phase: unfinishedPhases } })) {
    const agentKey = agentKeyOf(task)
    const agent = agentKey && (await resources.get('Agent', agentKey))
    uses.push(...listUsesElsewhere(task, agent, providers))
  }
  return writeUses(uses)
}

export function createUseNotes(deps: UseDeps): {
  note: NonNullable<ReconcileContext['noteUses']>
  controller: Controller
} {
  const { resources, clock, policyEntries } = deps
  const queue = createKeyedQueue()
  let pauseMs = pause.minMs

  /** One after another: what was noted of a task is not lost when all are listed, since the task is among them by then. */
  const change = (make: (old: UseTexts) => UseTexts | Promise<UseTexts>) =>
    queue.run(key, async () => {
      const found = await policyEntries.read()
      if (found === undefined) return
      const texts = await make(found.entries)
      if (!isDeepStrictEqual(texts, found.entries)) await policyEntries.replace(found, texts)
    })

  return {
    async note(task, agent) {
      if (listSecretsInside(task, agent).length === 0) return undefined
      const uses = listUsesElsewhere(task, agent, await listProviders(resources))
      if (uses.length === 0) return undefined
      try {
        await change((old) => writeUses([...readUses(old), ...uses]))
        return undefined
      } catch (error) {
        if (!isSvcError(error) || error.reason === 'Unavailable' || error.reason === 'Conflict') throw error
        return messageOf(error)
      }
    },
    controller: defineController({
      name: 'uses of other namespaces',
      sources: createSources(deps, (enqueue) => enqueue(key, pauseMs)),
      concurrency: 1,
      async reconcile() {
        const begun = monotonicMs(clock)
        await change(() => listAll(deps))
        pauseMs = Math.min(pause.maxMs, Math.max(pause.minMs, pause.times * (monotonicMs(clock) - begun)))
        return undefined
      },
    }),
  }
}
