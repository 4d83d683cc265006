// Reads the steps of a task or a session as they come.
import type { StepQuery, Steps, TracedStep } from '../../ports/tasks/steps.ts'

/** Whether an attempt is over. */
type IsOver = (attempt: number) => boolean

/** A step whose attempt is over has not gone on: nobody was left to report its end. */
export function endStep(step: TracedStep, isOver: IsOver): TracedStep {
  return step.outcome !== undefined || !isOver(step.attempt) ? step : { ...step, outcome: 'interrupted' }
}

type FollowedSteps = Omit<StepQuery, 'limit' | 'afterSeq'>

/** Steps that were not ended come again when their attempt is over, under the numbers that they had. */
export function createStepReader(steps: Steps, query: FollowedSteps, findEnded: () => Promise<IsOver>) {
  const open = new Map<string, TracedStep>()

  async function* readNew(afterSeq: number): AsyncGenerator<TracedStep> {
    for await (const step of readSteps(steps, { ...query, afterSeq })) {
      const id = `${step.attempt}/${step.id}`
      if (step.outcome === undefined) open.set(id, step)
      else open.delete(id)
      yield step
    }
  }

  /** Those that a reader knows who comes back. */
  async function readOpen(afterSeq: number): Promise<void> {
    for await (const step of readNew(0)) if (step.seq >= afterSeq) break
  }

  function* endOpen(isOver: IsOver): Generator<TracedStep> {
    for (const [id, step] of open) {
      const ended = endStep(step, isOver)
      if (ended.outcome === undefined) continue
      open.delete(id)
      yield ended
    }
  }

  let isFirst = true
  return async function* read(afterSeq: number): AsyncGenerator<TracedStep> {
    if (isFirst && afterSeq > 0) await readOpen(afterSeq)
    isFirst = false
    // Looked for first: what an attempt still wrote before its end is read after it.
    const isOver = await findEnded()
    yield* readNew(afterSeq)
    yield* endOpen(isOver)
  }
}

const stepPage = 500

async function* readSteps(steps: Steps, query: Omit<StepQuery, 'limit'>): AsyncGenerator<TracedStep> {
  for (let afterSeq = query.afterSeq; ; ) {
    const page = await steps.list({ ...query, afterSeq, limit: stepPage })
    yield* page
    if (page.length < stepPage) return
    afterSeq = page.at(-1)?.seq
  }
}
