// Splits a program's output into lines, no faster than they are consumed.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { OutputTail } from './output-tail.ts'

/** Longer lines are cut here, so that a line without an end cannot fill the memory. */
export const maxLineLength = 64 * 1024

type Splitter = { push(text: string): string[]; end(): string[] }

export function createLineSplitter(limit: number = maxLineLength): Splitter {
  let pending = ''
  let isSkipping = false
  const finish = (rest: string) => {
    const line = isSkipping ? undefined : pending + rest
    pending = ''
    isSkipping = false
    return line === undefined ? [] : [cutLine(line.endsWith('\r') ? line.slice(0, -1) : line, limit)]
  }
  const keep = (rest: string) => {
    if (isSkipping) return []
    pending += rest
    if (pending.length <= limit) return []
    const line = cutLine(pending, limit)
    pending = ''
    isSkipping = true
    return [line]
  }
  return {
    push: (text) => {
      const parts = text.split('\n')
      const rest = parts.pop() ?? ''
      return [...parts.flatMap(finish), ...keep(rest)]
    },
    end: () => (pending === '' ? [] : finish('')),
  }
}

function cutLine(line: string, limit: number): string {
  return line.length <= limit ? line : `${line.slice(0, limit)} [line cut]`
}

export type TakeLines = (lines: string[]) => Promise<void> | void

/** A consumer that fails loses lines, never the process: its pipe must be read on, or it would hang. */
export function forgive(take: TakeLines): TakeLines {
  return async (lines) => {
    try {
      await take(lines)
    } catch {
      // The log store reports its own errors.
    }
  }
}

type LineFeed = { write(chunk: Buffer): Promise<void>; end(): Promise<void> }

/** Passes each batch of whole lines to `take`; each write resolves once the batch is consumed. */
export function createLineFeed(take: TakeLines): LineFeed {
  const decoder = new StringDecoder('utf8')
  const splitter = createLineSplitter()
  const give = async (lines: string[]) => {
    if (lines.length > 0) await take(lines)
  }
  return {
    write: (chunk) => give(splitter.push(decoder.write(chunk))),
    end: () => give([...splitter.push(decoder.end()), ...splitter.end()]),
  }
}

/**
 * Reads no faster than the feed consumes: the pipe fills and the program waits. Resolves at the end of the stream,
 * which includes a destroyed stream.
 */
export async function feedLines(stream: Readable, feed: LineFeed): Promise<void> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) await feed.write(chunk)
  } catch (error) {
    if (!stream.destroyed) throw error
  }
  await feed.end()
}

// The output of a command: both streams go to the logs, stdout also to the tail that becomes the result.

export type CommandCapture = {
  stdout: LineFeed
  stderr: LineFeed
  /** The last part of stderr. */
  errorTail(): string
}

const errorTailLength = 4096

export function createCommandCapture(tail: OutputTail, sink: TakeLines): CommandCapture {
  const lines = createLineFeed(forgive(sink))
  let errorTail = ''
  const takeErrors = (batch: string[]) => {
    errorTail = `${errorTail}${batch.join('\n')}\n`.slice(-errorTailLength)
    return sink(batch)
  }
  return {
    stdout: {
      write: async (chunk) => {
        await tail.write(chunk)
        await lines.write(chunk)
      },
      end: lines.end,
    },
    stderr: createLineFeed(forgive(takeErrors)),
    errorTail: () => errorTail.trim(),
  }
}
