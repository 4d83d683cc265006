// The trace of a run, an attempt of a task or a turn of a chat: its steps are sent in batches, and the last ones come with its end.
import { type StepBatch, type StepReport, stepLimits } from '../../contract/api/tasks/steps.ts'
import { type Clock, monotonicMs } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'

type StepStart = Pick<StepReport, 'kind' | 'name'> & {
  parent?: string | undefined
  input?: string | undefined
  edits?: string[] | undefined
}
export type StepEnd = Pick<StepReport, 'outcome'> & Partial<Pick<StepReport, 'error' | 'model' | 'task' | 'output'>>

export type OpenStep = {
  id: string
  /** May be called again, with more that has become known. */
  end(end: StepEnd): void
}

export type Trace = {
  begin(step: StepStart): OpenStep
  /** Ends the step of the run; resolves to what is to come with its end. Never rejects. */
  finish(end: StepEnd): Promise<StepReport[]>
}

export type TraceOptions = {
  send: (batch: StepBatch) => Promise<void>
  redact: (text: string) => string
  clock: Clock
  /** Of the step of the run. */
  name: string
}

/** A run that is shorter than this makes no call for its steps. */
const pauseMs = 1000
/** A secret that begins within what is kept is whole within so many characters more. */
const secretLength = 16_384

export function createTrace({ send, redact, clock, name: runName }: TraceOptions): Trace {
  /** The newest state of each step, by id, in the order of the changes. */
  const pending = new Map<string, StepReport>()
  let count = 0
  let timer: NodeJS.Timeout | undefined
  let sending = Promise.resolve()

  const cut = (text: string | undefined, max: number) =>
    text === undefined
      ? undefined
      : redact(text.slice(0, max + secretLength))
          .slice(0, max)
          .toWellFormed()

  function takeBatch(): StepReport[] {
    const steps = [...pending.values()].slice(0, stepLimits.atOnce)
    for (const { id } of steps) pending.delete(id)
    return steps
  }

  async function flush(): Promise<void> {
    timer = undefined
    // The call repeats itself; what it loses all the same is missing in the trace, and nowhere else.
    while (pending.size > 0) await send({ steps: takeBatch() }).catch(() => undefined)
  }

  function write(step: StepReport): void {
    pending.delete(step.id)
    pending.set(step.id, step)
    timer ??= setTimeout(() => {
      sending = sending.then(flush)
    }, pauseMs).unref()
  }

  function begin({ kind, name, parent, input, edits }: StepStart): OpenStep {
    const since = monotonicMs(clock)
    const id = String(count++)
    let step: StepReport = dropUndefined({
      id,
      parent,
      kind,
      name: cut(name, stepLimits.name) ?? '',
      startedAt: clock.now().toISOString(),
      edits: edits?.map((path) => cut(path, stepLimits.path) ?? ''),
      input: cut(input, stepLimits.detail),
      inputBytes: input === undefined ? undefined : Buffer.byteLength(input),
    })
    write(step)
    return {
      id,
      end({ error, output, ...end }) {
        const size = output === undefined ? undefined : Buffer.byteLength(output)
        const texts = { error: cut(error, stepLimits.error), output: cut(output, stepLimits.detail), outputBytes: size }
        const durationMs = step.durationMs ?? Math.max(0, Math.round(monotonicMs(clock) - since))
        step = { ...step, durationMs, ...dropUndefined({ ...end, ...texts }) }
        write(step)
      },
    }
  }

  // The first one has the id `attemptStep`.
  const root = begin({ kind: 'attempt', name: runName })
  return {
    begin: (step) => begin({ parent: root.id, ...step }),
    async finish(end) {
      root.end(end)
      clearTimeout(timer)
      await sending
      while (pending.size > stepLimits.atOnce) await send({ steps: takeBatch() }).catch(() => undefined)
      return takeBatch()
    },
  }
}
