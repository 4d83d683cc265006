// The model of one request: the first call fails fast, later ones are retried.
import type { JsonObject } from '../../lib/json.ts'
import type { ModelClient } from '../../llm/call/model-client.ts'
import type { ModelRequest, Raw } from '../../llm/messages/messages.ts'
import type { SearchSettings } from '../../tools/registry/tool.ts'
import { openServiceModel } from '../../usecases/providers/models.ts'
import type { UsecaseDeps } from '../../usecases/service/deps.ts'
import type { ProxyCall } from '../types.ts'

/** The caller's own client retries; nothing is lost yet. */
const withoutRetries = { retry: { maxTries: 1, maxTriesWhenLimited: 1 }, maxCoolDownWaitMs: 0 }

export function openLoopModel(deps: ProxyLoopDeps, call: ProxyCall): ModelClient {
  const first = openServiceModel(call.models, deps, withoutRetries)
  let calls = 0
  let later: ModelClient | undefined

  return {
    call(request, listener) {
      calls += 1
      if (calls === 1) return first.call(request, listener)
      // The provider has just answered: what was guessed after the failure of another call is not waited for.
      later ??= openServiceModel(call.models, deps, { waitsIfAsked: true })
      return later.call(dropKey(answersCall(request) ? relaxChoice(request) : request), listener)
    },
  }
}

/** The caller's idempotency key is for one request; a vendor would answer it with the first answer again. */
function dropKey(request: ModelRequest): ModelRequest {
  if (request.headers?.['idempotency-key'] === undefined) return request
  const { 'idempotency-key': _key, ...headers } = request.headers
  return { ...request, headers }
}

/** Whether the last message contains results of the service's own tools. */
function answersCall({ messages }: ModelRequest): boolean {
  return messages.at(-1)?.content.some((block) => block.type === 'tool_result' && block.raw === undefined) ?? false
}

/** A forced tool call has been made; forcing it again would make the loop endless. */
function relaxChoice(request: ModelRequest): ModelRequest {
  const { toolChoice, raw } = request
  if (toolChoice === undefined || toolChoice.type === 'auto' || toolChoice.type === 'none') return request
  return { ...request, toolChoice: { type: 'auto' }, ...(raw === undefined ? {} : { raw: relaxRaw(raw) }) }
}

function relaxRaw({ family, json }: Raw): Raw {
  if (json.tool_choice === undefined) return { family, json }
  if (family === 'llmo') return { family, json: { ...json, tool_choice: 'auto' } }
  const { name: _name, ...choice } = json.tool_choice as JsonObject
  return { family, json: { ...json, tool_choice: { ...choice, type: 'auto' } } }
}

export type ProxyLoopSettings = {
  /** `--chat-max-iterations`: the most model calls; the last is the summary call without tools (LIM-006). */
  maxIterations: number
  /** `--max-tool-calls-per-turn`. */
  maxToolCalls: number
  /** `--chat-max-duration` (LIM-008). */
  maxDurationMs: number
  /** `--chat-tool-timeout` (LIM-010). */
  toolTimeoutMs: number
  /** Absent: web_search is not configured. */
  search?: SearchSettings | undefined
}

export type ProxyLoopDeps = Pick<UsecaseDeps, 'ports' | 'settings' | 'builtinTools' | 'health'> & {
  loop: ProxyLoopSettings
}
