// What a step is called, and what is said of it beside its name.
import type { TraceStep } from '../../../../src/contract/api/tasks/trace.ts'
import { describeBytes } from '../../../../src/lib/bytes.ts'
import { isJsonObject, tryParseJson } from '../../../../src/lib/json.ts'
import type { TraceRow } from './trace-rows.ts'

const kindWords: Record<TraceStep['kind'], string> = {
  attempt: '',
  model: 'model call',
  tool: '',
  text: '',
  thinking: '',
  task: 'child task',
  approval: 'asks a person',
  park: 'parked',
  checkpoint: 'checkpoint',
  compaction: 'compaction',
  network: 'network',
}

const outcomeWords: Record<NonNullable<TraceStep['outcome']>, string> = {
  ok: '',
  failed: 'failed',
  refused: 'refused',
  waiting: 'waiting',
  interrupted: 'interrupted',
}

const titles: Partial<Record<TraceStep['kind'], string>> = {
  text: 'Text',
  thinking: 'Thinking',
  task: 'Delegate',
  approval: 'Approval',
}

export function titleOf({ step, event }: TraceRow): string {
  if (event !== undefined) return event.phase !== undefined && event.type === 'PhaseChanged' ? event.phase : event.type
  if (step.kind === 'attempt') return `${step.name === 'turn' ? 'Turn' : 'Attempt'} ${step.attempt}`
  return titles[step.kind] ?? step.name
}

/** The values of the arguments, which say more than their names. */
function summarize(input: string | undefined): string | undefined {
  const value = input === undefined ? undefined : tryParseJson(input)
  if (!isJsonObject(value)) return input
  return Object.values(value)
    .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    .join(' ')
}

function sizeOf({ kind, outputBytes }: TraceStep): string | undefined {
  return kind === 'tool' && outputBytes !== undefined ? describeBytes(outputBytes) : undefined
}

/** Beside the title, in a softer colour. */
export function noteOf({ step, event }: TraceRow): string {
  if (event !== undefined) return event.message
  const { kind, model, task, input, output, error, outcome } = step
  const parts = [
    kindWords[kind],
    model?.provider,
    task,
    kind === 'text' || kind === 'thinking' ? output : summarize(input),
    sizeOf(step),
    outcome === undefined ? '' : outcomeWords[outcome],
    error,
  ]
  return parts.filter(Boolean).join(' · ').replace(/\s+/g, ' ')
}
