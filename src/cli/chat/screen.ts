// One turn: sends a message, and shows text as it arrives and each tool call with a spinner; Ctrl-C ends the turn.
import type { Client } from '../../client/client.ts'
import { parseBody } from '../../client/event-stream.ts'
import type { LinePrompt } from '../../client/machine.ts'
import { type ChatFrame, type ChatRequest, type ChatUsage, sendChat } from '../../contract/api/chat/chat.ts'
import { SvcError } from '../../errors.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { CliContext } from '../context.ts'
import { answerApprovals } from '../follow/approval-questions.ts'
import { makeHarmless } from '../output/printable.ts'
import type { Spinner } from '../output/terminal.ts'

export type Screen = {
  show(event: string, frame: ChatFrame): void
  /** Ends the line and stops the spinner. */
  close(): void
}

/** Tasks that a conversation has named, which may ask for something. */
export type NamedTasks = Set<string>

type Call = { label: string; since: number }
type Running = Map<string, Call>

const maxLabelLength = 200

export function createScreen(context: CliContext, { quiet = false }: { quiet?: boolean | undefined } = {}): Screen {
  const { terminal, standardOutput } = context
  const isShown = terminal.width !== undefined
  const running: Running = new Map()
  let spinner: Spinner | undefined
  let isMidLine = false

  function write(text: string): void {
    stopSpinner()
    standardOutput.write(isShown ? makeHarmless(text) : text)
    isMidLine = !text.endsWith('\n')
  }

  function endLine(): void {
    if (isMidLine) standardOutput.write('\n')
    isMidLine = false
  }

  function stopSpinner(): void {
    spinner?.stop()
    spinner = undefined
  }

  function spin(text: string): void {
    if (quiet) return
    if (spinner === undefined) {
      endLine()
      spinner = terminal.spin(text)
    } else spinner.update(text)
  }

  function showCall({ toolCall }: ChatFrame): void {
    if (toolCall === undefined) return
    const args = JSON.stringify(toolCall.args)
    const label = args === '{}' ? toolCall.name : `${toolCall.name} ${args}`.slice(0, maxLabelLength)
    running.set(toolCall.id, { label, since: context.now().getTime() })
    spin(describeRunning(running))
  }

  function showResult({ toolCall, result }: ChatFrame): void {
    const call = running.get(toolCall?.id ?? '')
    if (toolCall === undefined || call === undefined) return
    running.delete(toolCall.id)
    if (quiet) return
    log(describeResult(call, result, context))
    spin(running.size > 0 ? describeRunning(running) : 'thinking')
  }

  /** Above the spinner, or where it would be. */
  function log(line: string): void {
    if (spinner === undefined) endLine()
    if (spinner === undefined) terminal.note(line)
    else spinner.log(line)
  }

  return {
    show(event, frame) {
      if (event === 'status') spin('thinking')
      else if (event === 'message') write(frame.content ?? '')
      else if (event === 'tool_call') showCall(frame)
      else if (event === 'tool_result') showResult(frame)
    },
    close() {
      stopSpinner()
      endLine()
    },
  }
}

function describeRunning(running: Running): string {
  const labels = [...running.values()].map(({ label }) => label)
  return labels.length === 1 ? (labels[0] ?? '') : `${labels.length} calls: ${labels.join(', ')}`
}

function describeResult({ label, since }: Call, result: ChatFrame['result'], { terminal, now }: CliContext): string {
  const { green, red, dim } = terminal.colors
  const time = dim(`${((now().getTime() - since) / 1000).toFixed(1)}s`)
  if (result?.success !== false) return `${green('✓')} ${label} ${time}`
  return `${red('✗')} ${label} ${time}: ${String(result.error)}`
}

export type TurnEnd = {
  sessionId: string | undefined
  /** `cancelled`: by Ctrl-C. */
  outcome: 'answered' | 'failed' | 'cancelled'
  error?: { code: string; message: string }
  /** Name of the provider that was asked first, and its model. */
  answering?: { provider: string | undefined; model: string | undefined }
  /** Absent: the turn did not complete. */
  usage?: ChatUsage
}

type Sending = {
  context: CliContext
  quiet?: boolean | undefined
  /** One that is open already. */
  prompt?: LinePrompt
  /** Of earlier turns, too. */
  tasks?: NamedTasks
}

/** Whatever tools are asked and answer about tasks has their names in one of these fields. */
function noteTasks(tasks: NamedTasks, { toolCall, result }: ChatFrame): void {
  const data = isJsonObject(result?.data) ? result.data : {}
  const first = isJsonObject(data.firstTask) ? data.firstTask : {}
  for (const { name } of [toolCall?.args ?? {}, data, first]) if (typeof name === 'string') tasks.add(name)
}

/** Throws the errors that the service reports before the turn starts. */
export async function sendChatMessage(
  client: Client,
  body: ChatRequest,
  { context, quiet, prompt, tasks = new Set() }: Sending,
): Promise<TurnEnd> {
  const screen = createScreen(context, { quiet })
  const end: TurnEnd = { sessionId: body.sessionId, outcome: 'cancelled' }
  try {
    await context.interruptible(async (signal) => {
      const headers = { accept: 'text/event-stream' }
      const response = await client.open(sendChat, { body, headers, signal })
      const over = new AbortController()
      let answered: Promise<void> | undefined
      const suspend = () => {
        screen.close()
        const { promise, resolve } = Promise.withResolvers<void>()
        answered = promise
        return resolve
      }
      const asking = {
        client,
        context,
        namespace: body.namespace,
        names: () => tasks,
        suspend,
        ...(prompt && { prompt }),
      }
      answerApprovals({ ...asking, signal: AbortSignal.any([signal, over.signal]) }).catch(() => undefined)
      try {
        for await (const { event = '', data } of parseBody(response)) {
          await answered
          const frame = JSON.parse(data) as ChatFrame
          noteTasks(tasks, frame)
          note(end, screen, event, frame)
        }
      } finally {
        over.abort()
      }
      if (end.outcome === 'cancelled') throw brokenOff(end.sessionId)
    })
  } finally {
    screen.close()
  }
  return end
}

function note(end: TurnEnd, screen: Screen, event: string, frame: ChatFrame): void {
  end.sessionId = frame.sessionId
  if (frame.error !== undefined) end.error = frame.error
  if (frame.usage !== undefined) end.usage = frame.usage
  if (event === 'status') end.answering = { provider: frame.provider, model: frame.model }
  if (event === 'done') end.outcome = end.error === undefined ? 'answered' : 'failed'
  screen.show(event, frame)
}

function brokenOff(sessionId: string | undefined): SvcError {
  const where = sessionId === undefined ? '' : `; session ${sessionId} has what was completed`
  return new SvcError('Unavailable', `the connection to the service was lost before the turn ended${where}`)
}
