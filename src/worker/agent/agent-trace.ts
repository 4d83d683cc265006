// The steps of an agent program, as far as it reports them. Its calls of models are those that the proxies of the service see.
import type { AgentEvent } from '../../agents/agent-runtime.ts'
import { stepLimits } from '../../contract/api/tasks/steps.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { OpenStep, Trace } from '../../llm/trace/step-trace.ts'

/** Calls that have not ended; of those before them no end is noted. */
const maxCalls = 1000

/** One that nests too deep cannot be written. */
function writeInput(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ''
  } catch {
    return ''
  }
}

export function createAgentTrace(trace: Trace): (event: AgentEvent) => void {
  const calls = new BoundedMap<string, OpenStep>({ max: maxCalls })

  function write(kind: 'text' | 'thinking', text: string): void {
    trace.begin({ kind, name: kind }).end({ outcome: 'ok', output: text })
  }

  function beginTool({ id, name, input, edits }: Extract<AgentEvent, { type: 'tool_started' }>): void {
    const files = edits?.slice(0, stepLimits.edits)
    calls.set(id, trace.begin({ kind: 'tool', name, input: writeInput(input), edits: files }))
  }

  function endTool({ id, isError, output }: Extract<AgentEvent, { type: 'tool_ended' }>): void {
    calls.get(id)?.end({ outcome: isError ? 'failed' : 'ok', ...dropUndefined({ output }) })
    calls.delete(id)
  }

  return (event) => {
    switch (event.type) {
      case 'text':
      case 'thinking':
        return write(event.type, event.text)
      case 'tool_started':
        return beginTool(event)
      case 'tool_ended':
        return endTool(event)
      case 'refused':
        return trace.begin({ kind: 'tool', name: event.tool }).end({ outcome: 'refused', error: event.message })
    }
  }
}
