// Tells the timeline of the task what an agent program does: in few words, a second's steps at once, and so many at most.
import type { AgentEvent } from '../agents/agent-runtime.ts'
import { type ProgressReport, progressLimits } from '../contract/api/tasks/progress.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'

type Step = ProgressReport['events'][number]

export type Progress = {
  note(event: AgentEvent): void
  /** Resolves when everything is reported, or abandoned; never rejects. */
  end(): Promise<void>
}

export type ProgressOptions = {
  send: (report: ProgressReport) => Promise<void>
  redact: (text: string) => string
  clock: Clock
  maxTurns: number
  /** Paths in it are reported without it. */
  workFolder: string
}

const pauseMs = 1000
const maxCalls = 1000

type Call = { name: string; edits: string[] }

/** The first words of what a tool is called with: a path, a command, a pattern. */
function findSubject(input: unknown): string {
  if (typeof input !== 'object' || input === null) return ''
  return Object.values(input).find((value): value is string => typeof value === 'string') ?? ''
}

function createDescriber({ maxTurns, workFolder }: ProgressOptions): (event: AgentEvent) => Step[] {
  const calls = new BoundedMap<string, Call>({ max: maxCalls })
  let turns = 0
  const shorten = (path: string) => (path.startsWith(`${workFolder}/`) ? path.slice(workFolder.length + 1) : path)

  function startTool({ id, name, input, edits = [] }: Extract<AgentEvent, { type: 'tool_started' }>): Step[] {
    calls.set(id, { name, edits })
    return [{ type: 'ToolCalled', message: `${name} ${shorten(edits[0] ?? findSubject(input))}` }]
  }

  function endTool({ id, isError }: Extract<AgentEvent, { type: 'tool_ended' }>): Step[] {
    const call = calls.get(id)
    calls.delete(id)
    if (call === undefined) return []
    if (isError) return [{ type: 'ToolFailed', message: call.name }]
    return call.edits.length === 0 ? [] : [{ type: 'FilesEdited', message: call.edits.map(shorten).join(', ') }]
  }

  return (event) => {
    switch (event.type) {
      case 'turn':
        turns += 1
        return [{ type: 'TurnStarted', message: `turn ${turns} of ${maxTurns} at most` }]
      case 'tool_started':
        return startTool(event)
      case 'tool_ended':
        return endTool(event)
      case 'refused':
        return [{ type: 'ToolRefused', message: `${event.tool}: ${event.message}` }]
      case 'retried':
        return [{ type: 'ModelRetried', message: event.message }]
      default:
        return []
    }
  }
}

export function createProgress(options: ProgressOptions): Progress {
  const { send, redact, clock } = options
  const describe = createDescriber(options)
  let waiting: Step[] = []
  let reported = 0
  let leftOut = 0
  let sending: Promise<void> | undefined
  const hurry = new AbortController()

  function clean({ type, message }: Step): Step {
    // A secret that is cut in two would not be found.
    const line = redact(message).replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    return { type, message: line.trim().slice(0, progressLimits.messageLength) }
  }

  async function sendWaiting(): Promise<void> {
    const events = waiting
    waiting = []
    if (events.length === 0) return
    await send({ events }).catch(() => {
      leftOut += events.length
    })
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      // Rejects when somebody is in a hurry: that ends the pause as well.
      await clock.sleep(pauseMs, hurry.signal).catch(() => undefined)
      await sendWaiting()
    }
  }

  function keep(step: Step): void {
    if (waiting.length >= progressLimits.atOnce || reported >= progressLimits.perAttempt) {
      leftOut += 1
      return
    }
    reported += 1
    waiting.push(clean(step))
    sending ??= drain().finally(() => {
      sending = undefined
    })
  }

  return {
    note: (event) => describe(event).forEach(keep),
    async end() {
      hurry.abort()
      await sending
      if (leftOut === 0) return
      const message = `${leftOut === 1 ? '1 more step is' : `${leftOut} more steps are`} in the log alone`
      await send({ events: [{ type: 'StepsLeftOut', message }] }).catch(() => undefined)
    },
  }
}
