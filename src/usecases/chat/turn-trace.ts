// The trace of a turn of a chat: its steps are written as those of an attempt are, by the service itself.
import type { StepReport } from '../../contract/api/tasks/steps.ts'
import type { SvcError } from '../../errors.ts'
import { createLoopTrace, type LoopTrace } from '../../llm/trace/loop-trace.ts'
import { createTrace, type StepEnd } from '../../llm/trace/step-trace.ts'
import { stepsKeyOf } from '../../rules/chat/session-steps.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { redactStep } from '../tasks/worker/records.ts'
import type { TurnParts } from './turn-preparation.ts'

export type TurnTrace = LoopTrace & {
  /** Never rejects: what cannot be written is missing in the trace, and nowhere else. */
  finish(failure: SvcError | undefined): Promise<void>
}

function endOf(failure: SvcError | undefined): StepEnd {
  return failure === undefined ? { outcome: 'ok' } : { outcome: 'failed', error: failure.message }
}

export function openTurnTrace(
  { ports, settings }: Pick<UsecaseDeps, 'ports' | 'settings'>,
  parts: TurnParts,
): TurnTrace {
  const { steps: records } = ports.records
  const { lease, redact, agent, traceOrigin } = parts
  const taskUid = stepsKeyOf(lease.key)
  const subject = { ...traceOrigin, agent: agent?.metadata.name, session: lease.key.name }
  let turn: Promise<number> | undefined

  /** Only now: the turn before has written its own by then. */
  function findTurn(): Promise<number> {
    turn ??= records.lastAttempt(taskUid).then((last) => last + 1)
    return turn
  }

  async function write(steps: readonly StepReport[]): Promise<void> {
    const clean = steps.map(redactStep)
    await records.write({ taskUid, attempt: await findTurn() }, clean)
    settings.onSteps?.(subject, 1, clean)
  }

  const trace = createTrace({ send: ({ steps }) => write(steps), redact, clock: ports.clock, name: 'turn' })
  return {
    ...createLoopTrace(trace),
    async finish(failure) {
      await write(await trace.finish(endOf(failure))).catch(() => undefined)
    },
  }
}
