// Writes what happens in a run as log lines: the model's text as it arrives, tool calls and their results, and what an agent
// program does.
import type { AgentEvent } from '../agents/agent-runtime.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { type Clock, monotonicMs } from '../lib/clock.ts'
import { tryParseJson } from '../lib/json.ts'
import { describeWait, type OnWait } from '../llm/call/model-client.ts'
import type { LoopEvent } from '../llm/loop/loop.ts'
import type { ToolCall, ToolResult } from '../llm/loop/tool-host.ts'
import type { ModelEvent } from '../llm/messages/messages.ts'
import { shorten, type TaskLog, toLine } from './task-log.ts'

const maxArgumentsLength = 300
const maxErrorLength = 500

type ProgressLog = {
  write(event: LoopEvent): void
  writeWait: OnWait
  /** Writes what came of a line that was not finished. */
  end(): void
}

type ProgressLogOptions = { log: TaskLog; clock: Clock; redact: (text: string) => string }

export function createProgressLog({ log, clock, redact }: ProgressLogOptions): ProgressLog {
  const text = createLineGatherer(log)
  const startedAt = new Map<string, number>()
  let model = ''

  function writeModel(event: ModelEvent): void {
    if (event.type === 'text_delta') text.add(event.text)
    if (event.type === 'block_stop' || event.type === 'stop' || event.type === 'error') text.end()
    if (event.type !== 'start') return
    const serving = `${event.provider ?? 'provider'}, model ${event.model}`
    if (serving !== model) log.write(toLine(serving), 'info')
    model = serving
  }

  function writeResult(call: ToolCall, result: ToolResult): void {
    const ms = monotonicMs(clock) - (startedAt.get(call.id) ?? monotonicMs(clock))
    startedAt.delete(call.id)
    log.write(toLine(`${call.name}: ${describeResult(result)}, ${ms} ms`), 'debug')
  }

  function describeResult({ content, isError }: ToolResult): string {
    if (!isError) return `ok, ${Buffer.byteLength(content)} bytes`
    const show = (error: string) => shorten(redact(error), maxErrorLength)
    const { errorType, error } = (tryParseJson(content) ?? {}) as { errorType?: unknown; error?: unknown }
    return errorType === undefined ? `failed, ${show(content)}` : `${String(errorType)}, ${show(String(error))}`
  }

  return {
    end: () => text.end(),
    writeWait(wait) {
      const line = describeWait(wait)
      if (line !== undefined) log.write(toLine(line), 'warn')
    },
    write(event) {
      if (event.type === 'model') event.events.forEach(writeModel)
      if (event.type === 'discarded')
        log.write(toLine(`the answer does not count and is asked for again: ${event.error.message}`), 'warn')
      if (event.type === 'prompt') log.write(`[added to the conversation: ${event.text}]`, 'info')
      if (event.type === 'tool_result') writeResult(event.call, event.result)
      if (event.type !== 'tool_call') return
      startedAt.set(event.call.id, monotonicMs(clock))
      const args = shorten(redact(JSON.stringify(event.call.args)), maxArgumentsLength)
      log.write(toLine(`${event.call.name} ${args}`), 'debug')
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

const maxInputLength = 300
/** Calls that have not ended; of those before them no time is reported. */
const maxCalls = 1000

/** Not every program reports it, and one that nests too deep cannot be written. */
function writeInput(input: unknown): string {
  try {
    return JSON.stringify(input) ?? ''
  } catch {
    return '...'
  }
}

/** `model`: provider and model. */
export function createAgentProgressLog(
  { log, clock, redact }: ProgressLogOptions,
  model: string,
): (event: AgentEvent) => void {
  const started = new BoundedMap<string, { name: string; at: number }>({ max: maxCalls })
  let latest: string | undefined

  function writeStart({ id, name, input }: Extract<AgentEvent, { type: 'tool_started' }>): void {
    latest = id
    started.set(id, { name: shorten(name, maxInputLength), at: monotonicMs(clock) })
    log.write(toLine(`${shorten(name, maxInputLength)} ${shorten(redact(writeInput(input)), maxInputLength)}`), 'debug')
  }

  function writeEnd({ id, isError }: Extract<AgentEvent, { type: 'tool_ended' }>): void {
    const call = started.get(id)
    if (call === undefined) return
    started.delete(id)
    log.write(toLine(`${call.name}: ${isError ? 'failed' : 'ok'}, ${monotonicMs(clock) - call.at} ms`), 'debug')
  }

  function describeSilence(seconds: number): string {
    const call = latest === undefined ? undefined : started.get(latest)
    if (call !== undefined) return `${call.name} has been running for ${seconds} s`
    const provider = model.split('/', 1)[0]
    return `no word for ${seconds} s: the program waits for its model ${model}; \`provider get ${provider}\` says whether it can be reached`
  }

  return (event) => {
    switch (event.type) {
      case 'text':
        return log.write(event.text)
      case 'refused':
        return log.write(toLine(`${event.tool} is refused: ${event.message}`), 'warn')
      case 'retried':
        return log.write(toLine(`the model is asked again: ${event.message}`), 'warn')
      case 'silent':
        return log.write(toLine(describeSilence(event.seconds)), 'warn')
      case 'tool_started':
        return writeStart(event)
      case 'tool_ended':
        return writeEnd(event)
    }
  }
}
