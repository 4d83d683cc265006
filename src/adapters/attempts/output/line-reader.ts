// Turns a program's output into lines, no faster than they are taken.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

/** Longer lines are cut here, so that one without an end fills no memory. */
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

/** A taker that fails loses lines, never the process: its pipe must go on being read or it would hang. */
export function forgive(take: TakeLines): TakeLines {
  return async (lines) => {
    try {
      await take(lines)
    } catch {
      // The log store has its own complaint.
    }
  }
}

export type LineFeed = { write(chunk: Buffer): Promise<void>; end(): Promise<void> }

/** Gives each batch of whole lines to `take`; each write resolves once the batch is taken. */
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
 * Reads no faster than the feed takes: the pipe fills and the program waits. Resolves at the end of the stream; a
 * destroyed stream is an end as well.
 */
export async function readLines(stream: Readable, feed: LineFeed): Promise<void> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) await feed.write(chunk)
  } catch (error) {
    if (!stream.destroyed) throw error
  }
  await feed.end()
}
