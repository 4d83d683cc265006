// Where a run stands in a trace (W3C Trace Context): ids follow from the task alone, so that every replica and every attempt makes
// the same without a state of its own.
import { createHash } from 'node:crypto'
import { attemptStep } from '../../contract/api/tasks/steps.ts'
import { reservedPrefix } from '../../contract/kinds/resources/metadata.ts'

/** What the creator of the task has sent, or the step of the task that made it. */
export const traceparentAnnotation = `${reservedPrefix}traceparent`

/** What the ids of a run follow from; `traceparent`: what its caller has sent. */
export type TraceOrigin = { uid: string; traceparent?: string | undefined }

type TracedTask = { metadata: { uid: string; annotations?: Readonly<Record<string, string>> | undefined } }

/** `parent`: of the attempts of the task; absent where nobody outside began the trace. */
type TraceContext = { traceId: string; parent?: string }

const traceparentForm = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/

/** Undefined for a text that is not valid; the task then begins a trace of its own. */
function parseTraceparent(text: string | undefined): Required<TraceContext> | undefined {
  const [, traceId = '', parent = ''] = traceparentForm.exec(text ?? '') ?? []
  const isValid = /[1-9a-f]/.test(traceId) && /[1-9a-f]/.test(parent) && !text?.startsWith('ff')
  return isValid ? { traceId, parent } : undefined
}

/** The annotation of what is created within a trace; nothing for what names none. */
export function annotateTrace(traceparent: string | undefined): Record<string, string> {
  return traceparent === undefined || parseTraceparent(traceparent) === undefined
    ? {}
    : { [traceparentAnnotation]: traceparent }
}

function hash(text: string, digits: number): string {
  return createHash('sha256').update(text, 'utf8').digest('hex').slice(0, digits)
}

export function traceContextOf({ uid, traceparent }: TraceOrigin): TraceContext {
  return parseTraceparent(traceparent) ?? { traceId: hash(uid, 32) }
}

/** Of a step of an attempt. */
export function spanIdOf(uid: string, attempt: number, step: string): string {
  return hash(`${uid}/${attempt}/${step}`, 16)
}

export function traceOriginOf({ metadata: { uid, annotations } }: TracedTask): TraceOrigin {
  return { uid, traceparent: annotations?.[traceparentAnnotation] }
}

/** Of the span of a run. */
export function runContextOf(origin: TraceOrigin, attempt: number): { traceId: string; spanId: string } {
  return { traceId: traceContextOf(origin).traceId, spanId: spanIdOf(origin.uid, attempt, attemptStep) }
}

/** What a step of a run sends to all that it calls. */
export function traceparentIn(origin: TraceOrigin, attempt: number, step: string = attemptStep): string {
  return `00-${traceContextOf(origin).traceId}-${spanIdOf(origin.uid, attempt, step)}-01`
}

/** What a step of an attempt sends to all that it calls. */
export function traceparentOf(task: TracedTask, attempt: number, step?: string): string {
  return traceparentIn(traceOriginOf(task), attempt, step)
}
