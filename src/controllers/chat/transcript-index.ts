// Brings new messages of sessions into the index that searches use; what it does not have yet is searched more slowly.
import type { Clock } from '../../lib/clock.ts'
import type { Transcripts } from '../../ports/chat/sessions.ts'
import { type Controller, createTimerSource, defineController } from '../engine/controller.ts'

const times = { firstMs: 5_000, intervalMs: 10_000 }
/** Between two pieces, so that a long transcript delays nobody. */
const pauseMs = 5

export function createTranscriptIndexController(deps: {
  transcripts: Pick<Transcripts, 'index'>
  clock: Clock
}): Controller {
  const { transcripts, clock } = deps
  return defineController({
    name: 'transcript index',
    sources: [createTimerSource('index', times, (ms, signal) => clock.sleep(ms, signal))],
    concurrency: 1,
    async reconcile(_key, signal) {
      while (!signal.aborted && (await transcripts.index())) await clock.sleep(pauseMs, signal).catch(() => undefined)
      return undefined
    },
  })
}
