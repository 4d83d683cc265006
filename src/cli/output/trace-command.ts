// Traces in the terminal: the tree of steps, drawn anew while it goes on.
import { readEvents } from '../../client/event-stream.ts'
import type { getSessionTrace } from '../../contract/api/chat/sessions.ts'
import type { getTaskTrace, TraceStep } from '../../contract/api/tasks/trace.ts'
import type { ServiceCall } from '../action.ts'
import { ExitSignal, exitCodes } from '../failure.ts'
import { printAnswer } from './answers.ts'
import { listPages } from './paging.ts'
import { formatTrace } from './trace-text.ts'

/** At most so often the tree is drawn. */
const drawEveryMs = 200

type ShownTrace = {
  route: typeof getTaskTrace | typeof getSessionTrace
  name: string
  follow: boolean
  /** Number of an attempt, or of a turn. */
  attempt: string | undefined
}

type TraceCall = Omit<ServiceCall, 'query'>
type TraceInput = { params: { id: string }; query: { namespace?: string; attempt?: number } }

export async function showTrace({ query: scope, ...call }: ServiceCall, shown: ShownTrace): Promise<void> {
  const { client, options, context } = call
  const { route, name, follow, attempt } = shown
  const query = { ...scope, ...(attempt !== undefined && { attempt: Number(attempt) }) }
  const input = { params: { id: name }, query }
  if (follow) return followTrace(call, route, input)
  const { items } = await listPages<TraceStep>(client, route, input)
  if (items.length === 0 && options.output === 'table') {
    const where = attempt === undefined ? name : `${name} with the number ${attempt}`
    return context.terminal.note(`there are no steps of ${where} so far: no calls of models or tools`)
  }
  const draw = () => formatTrace(items, context.now(), context.terminal.width).join('\n')
  await printAnswer(context, options, { items }, draw)
}

/** As a table, the tree drawn in its place; else each change of a step as a line of JSON. */
async function followTrace(call: TraceCall, route: ShownTrace['route'], input: TraceInput): Promise<void> {
  const { client, context, options } = call
  const { terminal, now } = context
  const steps = new Map<string, TraceStep>()
  const block = options.output === 'table' ? terminal.block() : undefined
  const listLines = () => formatTrace([...steps.values()], now(), terminal.width)
  const timer = setInterval(() => block?.draw(listLines()), drawEveryMs)
  const read = async (signal: AbortSignal) => {
    const followed = { ...input, query: { ...input.query, follow: true }, signal }
    for await (const { data } of readEvents(client, route, followed)) {
      const step: TraceStep = JSON.parse(data)
      steps.set(`${step.attempt}/${step.id}`, step)
      if (options.output !== 'table') terminal.print(data)
    }
    return true
  }
  const done = await context.interruptible(read).finally(() => clearInterval(timer))
  if (block !== undefined) block.end(listLines())
  else if (options.output === 'table') terminal.print(listLines().join('\n'))
  if (!done) throw new ExitSignal(exitCodes.interrupted)
}
