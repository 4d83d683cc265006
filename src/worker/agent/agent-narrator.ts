// Writes what an agent program does as lines of the task's log.
import type { AgentEvent } from '../../agents/runtime.ts'
import type { Clock } from '../../lib/clock.ts'
import { shorten, toLine } from '../log-lines.ts'
import type { TaskLog } from '../task-log.ts'

const longestInput = 300
/** Calls that have not ended; of those before them no time is told. */
const mostCalls = 1000

/** Not every program tells it, and one that nests too deep cannot be written. */
function writeInput(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ''
  } catch {
    return '...'
  }
}

type TellerOptions = { log: TaskLog; clock: Clock; redact: (text: string) => string }

export function createTeller({ log, clock, redact }: TellerOptions): (event: AgentEvent) => void {
  const started = new Map<string, { name: string; at: number }>()

  function tellStart({ id, name, input }: Extract<AgentEvent, { type: 'tool_started' }>): void {
    started.set(id, { name: shorten(name, longestInput), at: clock.now().getTime() })
    const [oldest] = started.keys()
    if (started.size > mostCalls && oldest !== undefined) started.delete(oldest)
    log.write(toLine(`${shorten(name, longestInput)} ${shorten(redact(writeInput(input)), longestInput)}`))
  }

  function tellEnd({ id, isError }: Extract<AgentEvent, { type: 'tool_ended' }>): void {
    const call = started.get(id)
    if (call === undefined) return
    started.delete(id)
    log.write(toLine(`${call.name}: ${isError ? 'failed' : 'ok'}, ${clock.now().getTime() - call.at} ms`))
  }

  return (event) => {
    if (event.type === 'text') log.write(event.text)
    if (event.type === 'refused') log.write(toLine(`${event.tool} is refused: ${event.message}`))
    if (event.type === 'tool_started') tellStart(event)
    if (event.type === 'tool_ended') tellEnd(event)
  }
}
