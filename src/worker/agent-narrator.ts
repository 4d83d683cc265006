// Writes what an agent program does as lines of the task's log.
import type { AgentEvent } from '../agents/runtime.ts'
import type { Clock } from '../ports/clock.ts'
import type { TaskLog } from './task-log.ts'

const longestInput = 300
/** Calls that have not ended; of those before them no time is told. */
const mostCalls = 1000

function shorten(text: string): string {
  return text.length <= longestInput ? text : `${text.slice(0, longestInput)}... (${text.length} characters)`
}

/** Not every program tells it, and one that nests too deep cannot be written. */
function writeInput(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ''
  } catch {
    return '...'
  }
}

/** What a model says cannot start a line that looks like one of the service's. */
function toLine(text: string): string {
  return `[${text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trimEnd()}]`
}

type TellerOptions = { log: TaskLog; clock: Clock; redact: (text: string) => string }

export function createTeller({ log, clock, redact }: TellerOptions): (event: AgentEvent) => void {
  const started = new Map<string, { name: string; at: number }>()

  function tellStart({ id, name, input }: Extract<AgentEvent, { type: 'tool_started' }>): void {
    started.set(id, { name: shorten(name), at: clock.now().getTime() })
    const [oldest] = started.keys()
    if (started.size > mostCalls && oldest !== undefined) started.delete(oldest)
    // A secret that is cut in two would not be found.
    log.write(toLine(`${shorten(name)} ${shorten(redact(writeInput(input)))}`))
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
