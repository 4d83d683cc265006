// The traces of sessions: what the turns of a chat did, step by step. The number of a turn stands where that of an attempt does.
import type { SessionKey } from '../../ports/chat/sessions.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { StepQuery, TracedStep } from '../../ports/tasks/steps.ts'
import { stepsKeyOf } from '../../rules/chat/session-steps.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { createStepReader, endStep } from '../tasks/step-reader.ts'
import { followRecords } from '../tasks/streams.ts'
import { turnStateOf } from './session-lease.ts'
import type { SessionUsecases } from './sessions.ts'

type TraceQuery = Omit<StepQuery, 'taskUid'>

export type SessionTraces = {
  /** Steps in the order of their last change. NotFound. */
  trace(caller: Caller, key: SessionKey, query: TraceQuery): Promise<TracedStep[]>
  /** Steps as they come, until no turn runs. NotFound. */
  followTrace(
    caller: Caller,
    key: SessionKey,
    query: Omit<TraceQuery, 'limit'>,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<TracedStep>>
}

export function createSessionTraces({ ports }: UsecaseDeps, { get }: Pick<SessionUsecases, 'get'>): SessionTraces {
  const { sessions, steps, changes } = ports.records

  async function hasTurn(key: SessionKey): Promise<boolean> {
    return turnStateOf((await sessions.get(key))?.activeTask, ports.clock.now()) === 'running'
  }

  /** Of a turn that runs, which is the last one, a step may have no end yet. */
  async function findEnded(key: SessionKey): Promise<(turn: number) => boolean> {
    if (!(await hasTurn(key))) return () => true
    const last = await steps.lastAttempt(stepsKeyOf(key))
    return (turn) => turn < last
  }

  function subscribe(key: SessionKey) {
    return (listener: () => void) => {
      const isOfSessions = (kind: string, namespace: string | undefined) =>
        kind === 'Session' && (namespace ?? key.namespace) === key.namespace
      const ends = [
        steps.onAppend(stepsKeyOf(key), listener),
        changes.subscribe((change) => {
          if (change === undefined || isOfSessions(change.kind, change.namespace)) listener()
        }),
      ]
      return () => ends.forEach((end) => void end())
    }
  }

  return {
    async trace(caller, key, query) {
      await get(caller, key, 1)
      const isOver = await findEnded(key)
      const page = await steps.list({ ...query, taskUid: stepsKeyOf(key) })
      return page.map((step) => endStep(step, isOver))
    },
    async followTrace(caller, key, { afterSeq, ...query }) {
      await get(caller, key, 1)
      return (signal) =>
        followRecords({
          read: createStepReader(steps, { ...query, taskUid: stepsKeyOf(key) }, () => findEnded(key)),
          subscribe: subscribe(key),
          isOver: async () => !(await hasTurn(key)),
          afterSeq: afterSeq ?? 0,
          signal,
        })
    },
  }
}
