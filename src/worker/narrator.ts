// Writes the run as log lines: the model's text as it arrives, tool calls and their results.
import { tryParseJson } from '../contract/schema/json.ts'
import type { Clock } from '../lib/clock.ts'
import type { LoopEvent } from '../llm/loop/loop.ts'
import type { ToolCall, ToolResult } from '../llm/loop/tool-host.ts'
import { describeWait, type TellWait } from '../llm/loop/waits.ts'
import type { ModelEvent } from '../llm/messages/messages.ts'
import { shorten, toLine } from './log-lines.ts'
import type { TaskLog } from './task-log.ts'

const longestArguments = 300
const longestError = 500

type Narrator = {
  tell(event: LoopEvent): void
  tellWait: TellWait
  /** Tells what came of a line that was not finished. */
  end(): void
}

type NarratorOptions = { log: TaskLog; clock: Clock; redact: (text: string) => string }

export function createNarrator({ log, clock, redact }: NarratorOptions): Narrator {
  const text = createLineGatherer(log)
  const startedAt = new Map<string, number>()
  let model = ''

  function tellModel(event: ModelEvent): void {
    if (event.type === 'text_delta') text.add(event.text)
    if (event.type === 'block_stop' || event.type === 'stop' || event.type === 'error') text.end()
    if (event.type !== 'start') return
    const serving = `${event.provider ?? 'provider'}, model ${event.model}`
    if (serving !== model) log.write(toLine(serving))
    model = serving
  }

  function tellResult(call: ToolCall, result: ToolResult): void {
    const ms = clock.now().getTime() - (startedAt.get(call.id) ?? clock.now().getTime())
    startedAt.delete(call.id)
    log.write(toLine(`${call.name}: ${describeResult(result)}, ${ms} ms`))
  }

  function describeResult({ content, isError }: ToolResult): string {
    if (!isError) return `ok, ${Buffer.byteLength(content)} bytes`
    const tell = (error: string) => shorten(redact(error), longestError)
    const { errorType, error } = (tryParseJson(content) ?? {}) as { errorType?: unknown; error?: unknown }
    return errorType === undefined ? `failed, ${tell(content)}` : `${String(errorType)}, ${tell(String(error))}`
  }

  return {
    end: () => text.end(),
    tellWait(wait) {
      const line = describeWait(wait)
      if (line !== undefined) log.write(toLine(line))
    },
    tell(event) {
      if (event.type === 'model') event.events.forEach(tellModel)
      if (event.type === 'discarded')
        log.write(toLine(`the answer does not count and is asked for again: ${event.error.message}`))
      if (event.type === 'prompt') log.write(`[added to the conversation: ${event.text}]`)
      if (event.type === 'tool_result') tellResult(event.call, event.result)
      if (event.type !== 'tool_call') return
      startedAt.set(event.call.id, clock.now().getTime())
      log.write(toLine(`${event.call.name} ${shorten(redact(JSON.stringify(event.call.args)), longestArguments)}`))
    },
  }
}

/** Deltas to whole lines: a secret cut in two by the stream is whole again when the line is cleaned. */
function createLineGatherer(log: TaskLog): { add(text: string): void; end(): void } {
  let rest = ''
  const keep = (text: string) => {
    rest = text
    log.begin(text)
  }
  return {
    add(text) {
      const end = text.lastIndexOf('\n')
      if (end === -1) return keep(rest + text)
      log.write(rest + text.slice(0, end))
      keep(text.slice(end + 1))
    },
    end() {
      if (rest !== '') log.write(rest)
      keep('')
    },
  }
}
