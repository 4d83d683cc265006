// Steps of runs as spans, by the OpenTelemetry semantic conventions for generative AI.
import { attemptStep, type StepReport } from '../../contract/api/tasks/steps.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { Span } from '../../observability/traces.ts'
import { spanIdOf, type TraceOrigin, traceContextOf, traceOriginOf } from './trace-context.ts'

type Attributes = Span['attributes']

/** Whose steps they are: a task's, or those of a turn of a session. */
export type StepSubject = TraceOrigin & {
  agent?: string | undefined
  session?: string | undefined
  task?: { namespace: string; name: string }
}

export function stepSubjectOf(task: Task): StepSubject {
  const { metadata, spec } = task
  const { namespace, name } = metadata
  const [agent, session] = [spec.agentRef?.name, spec.sessionRef?.name]
  return { ...traceOriginOf(task), agent, session, task: { namespace, name } }
}

type StepSpanOptions = {
  attempt: number
  /** Whether arguments, results and texts are sent. */
  contents: boolean
}

function nameStep({ agent, task }: StepSubject, { kind, name }: StepReport): string {
  switch (kind) {
    case 'attempt':
      return `invoke_agent ${agent ?? task?.name ?? 'chat'}`
    case 'model':
      return `chat ${name}`
    case 'tool':
    case 'task':
    case 'approval':
      return `execute_tool ${name}`
    default:
      return kind
  }
}

function describeAttempt({ uid, agent, session, task }: StepSubject, attempt: number): Attributes {
  return dropUndefined({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    'gen_ai.conversation.id': session,
    ...(task && {
      'svc.task.id': uid,
      'svc.task.name': task.name,
      'svc.task.namespace': task.namespace,
      'svc.task.attempt': attempt,
    }),
  })
}

function describeModel({ model }: StepReport): Attributes {
  if (model === undefined) return { 'gen_ai.operation.name': 'chat' }
  return dropUndefined({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': model.provider,
    'gen_ai.request.model': model.name,
    'gen_ai.usage.input_tokens': model.inputTokens,
    'gen_ai.usage.output_tokens': model.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': model.cachedTokens,
    'gen_ai.response.time_to_first_chunk': model.firstTokenMs === undefined ? undefined : model.firstTokenMs / 1000,
    'gen_ai.response.finish_reasons': model.finishReason === undefined ? undefined : [model.finishReason],
    'svc.cost': model.cost,
    'svc.cost.currency': model.currency,
  })
}

function describeTool({ id, name, outputBytes, task }: StepReport): Attributes {
  return dropUndefined({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'svc.tool.result.size_bytes': outputBytes,
    'svc.child_task.name': task,
  })
}

function describeContents({ input, output }: StepReport): Attributes {
  return dropUndefined({ 'gen_ai.tool.call.arguments': input, 'gen_ai.tool.call.result': output })
}

function describeStep(subject: StepSubject, step: StepReport, attempt: number): Attributes {
  switch (step.kind) {
    case 'attempt':
      return describeAttempt(subject, attempt)
    case 'model':
      return describeModel(step)
    case 'tool':
    case 'task':
    case 'approval':
      return describeTool(step)
    default:
      return { 'svc.step.kind': step.kind }
  }
}

/** Undefined for a step that has not ended. */
export function makeStepSpan(
  subject: StepSubject,
  step: StepReport,
  { attempt, contents }: StepSpanOptions,
): Span | undefined {
  const { id, parent, startedAt, durationMs, outcome, kind } = step
  if (durationMs === undefined || outcome === undefined) return undefined
  const { uid } = subject
  const { traceId, parent: caller } = traceContextOf(subject)
  const above = id === attemptStep ? caller : spanIdOf(uid, attempt, parent ?? attemptStep)
  const startMs = Date.parse(startedAt)
  return {
    name: nameStep(subject, step),
    kind: kind === 'model' ? 'client' : 'internal',
    startMs,
    endMs: startMs + durationMs,
    context: { traceId, spanId: spanIdOf(uid, attempt, id), ...(above && { parentSpanId: above }) },
    attributes: { ...describeStep(subject, step, attempt), ...(contents && describeContents(step)) },
    ...(outcome === 'ok' || outcome === 'waiting' ? {} : { error: outcome }),
  }
}
