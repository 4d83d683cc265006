// Calls of models that the agent of an attempt makes through the proxies, as steps of the attempt's trace: with what they used and
// cost, whichever program makes them and whatever it reports itself. And calls of the service's tools, as spans.
import { attemptStep, type StepReport, stepLimits } from '../contract/api/tasks/steps.ts'
import { dropUndefined } from '../lib/json.ts'
import type { LoopEvent } from '../llm/loop/loop.ts'
import type { ToolCall, ToolResult } from '../llm/loop/tool-host.ts'
import { noUsage } from '../llm/messages/messages.ts'
import { redactText } from '../observability/redaction.ts'
import type { WorkerIdentity } from '../ports/identity/identity.ts'
import { stepSubjectOf } from '../rules/tasks/step-spans.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import { redactStep } from '../usecases/tasks/worker/records.ts'
import type { ProxySample } from './request.ts'
import type { ProxyCall } from './types.ts'

function modelOf({ model, usage = noUsage, firstByteMs }: ProxySample, provider: string, cost: object | undefined) {
  const { inputTokens, outputTokens, cachedTokens } = usage
  const firstTokenMs = firstByteMs === undefined ? undefined : Math.round(firstByteMs)
  return dropUndefined({ provider, name: model, inputTokens, outputTokens, cachedTokens, ...cost, firstTokenMs })
}

type StepDeps = Pick<UsecaseDeps, 'ports' | 'settings'>

/** Adds a step to the trace of an attempt. What cannot be written is missing in the trace, and nowhere else. */
async function writeStep({ ports, settings }: StepDeps, identity: WorkerIdentity, step: StepReport): Promise<void> {
  const { taskUid, attempt, namespace, taskName } = identity
  try {
    await ports.records.steps.write({ taskUid, attempt }, [step])
    const task = settings.onSteps && (await ports.resources.get('Task', { namespace, name: taskName }))
    if (task?.metadata.uid === taskUid) settings.onSteps?.(stepSubjectOf(task), attempt, [step])
  } catch {
    // The answer goes on.
  }
}

/** Takes the events of a loop. Agents of attempts get no tools of the service, so its calls are spans alone, below that of their request. */
export function createToolSpans({ ports, settings }: StepDeps, { traceUid }: Pick<ProxyCall, 'traceUid'>) {
  const { ids, clock } = ports
  const started = new Map<string, { step: string; at: number }>()

  function sendSpan({ id, name, args }: ToolCall, { content, isError }: ToolResult): void {
    const now = clock.now().getTime()
    const { step: stepId, at } = started.get(id) ?? { step: ids.next('call'), at: now }
    started.delete(id)
    const input = JSON.stringify(args)
    const step = redactStep({
      id: stepId,
      parent: attemptStep,
      kind: 'tool',
      name: name.slice(0, stepLimits.name),
      startedAt: new Date(at).toISOString(),
      durationMs: now - at,
      outcome: isError ? 'failed' : 'ok',
      input,
      inputBytes: Buffer.byteLength(input),
      output: content,
      outputBytes: Buffer.byteLength(content),
    })
    settings.onSteps?.({ uid: traceUid }, 1, [step])
  }

  return {
    note(event: LoopEvent): void {
      if (event.type === 'tool_call') started.set(event.call.id, { step: ids.next('call'), at: clock.now().getTime() })
      if (event.type === 'tool_result') sendSpan(event.call, event.result)
    },
    stepOf: (call: string): string | undefined => started.get(call)?.step,
  }
}

/** Called for each request that ended. */
export function createCallSteps(deps: StepDeps) {
  const { clock, ids } = deps.ports

  return function noteCall(sample: ProxySample): void {
    const { traced, endpoint, totalMs, outcome } = sample
    if (traced === undefined || endpoint === 'count_tokens') return
    const { attempt, provider, cost, error } = traced
    const step: StepReport = {
      id: ids.next('call'),
      parent: attemptStep,
      kind: 'model',
      name: sample.model.slice(0, stepLimits.name),
      startedAt: new Date(clock.now().getTime() - totalMs).toISOString(),
      durationMs: Math.round(totalMs),
      outcome: outcome === 'ok' ? 'ok' : 'failed',
      ...dropUndefined({ error: error && redactText(error).slice(0, stepLimits.error).toWellFormed() }),
      model: modelOf(sample, `${provider.namespace}/${provider.name}`, cost),
    }
    void writeStep(deps, attempt, step)
  }
}
