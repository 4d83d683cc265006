// Splits a program's output into lines, no faster than they are consumed.
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { OutputTail } from './output-tail.ts'
import { headOfText } from './utf8.ts'

/** Bytes of UTF-8 that a line of a log may have, with the note that it was cut: one without an end cannot fill the memory. */
const maxLineBytes = 64 * 1024
const maxNoteBytes = 64

/** `bytes`: of the whole line. */
function noteCut(text: string, bytes: number, limit: number): string {
  return `${headOfText(text, limit - maxNoteBytes).text} [cut: the line had ${bytes} bytes]`
}

/** The line, or its beginning and a note when it is too long. */
export function cutLine(text: string, limit: number = maxLineBytes): string {
  // A code unit takes at most three bytes.
  if (text.length * 3 <= limit) return text
  const bytes = Buffer.byteLength(text)
  return bytes <= limit ? text : noteCut(text, bytes, limit)
}

type Splitter = { push(text: string): string[]; end(): string[] }

/** What is beyond the limit is counted only: the line comes, cut, when it has ended, so that its note can say how long it was. */
export function createLineSplitter(limit: number = maxLineBytes): Splitter {
  let pending = ''
  /** The end of what is beyond: half of a character, or of a line end. */
  let open = ''
  let bytesBeyond = 0
  const keep = (rest: string) => {
    const room = limit - pending.length
    const beyond = open + rest.slice(room)
    pending += rest.slice(0, room)
    const end = beyond.length - Number(/[\ud800-\udbff\r]$/.test(beyond))
    bytesBeyond += Buffer.byteLength(beyond.slice(0, end))
    open = beyond.slice(end)
  }
  const finish = (rest: string) => {
    keep(rest)
    const bytes = bytesBeyond + Buffer.byteLength(open.replace(/\r$/, ''))
    const line =
      bytes === 0
        ? cutLine(pending.replace(/\r$/, ''), limit)
        : noteCut(pending, bytes + Buffer.byteLength(pending), limit)
    pending = open = ''
    bytesBeyond = 0
    return line
  }
  return {
    push: (text) => {
      const parts = text.split('\n')
      const rest = parts.pop() ?? ''
      const lines = parts.map(finish)
      keep(rest)
      return lines
    },
    end: () => (pending === '' ? [] : [finish('')]),
  }
}

export type TakeLines = (lines: string[]) => Promise<void> | void
/** Takes the lines of both streams of a program. */
export type TakeOutput = (lines: string[], stream: 'stdout' | 'stderr') => Promise<void> | void

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

export function createCommandCapture(tail: OutputTail, sink: TakeOutput): CommandCapture {
  const lines = createLineFeed(forgive((batch) => sink(batch, 'stdout')))
  let errorTail = ''
  const takeErrors = (batch: string[]) => {
    errorTail = `${errorTail}${batch.join('\n')}\n`.slice(-errorTailLength)
    return sink(batch, 'stderr')
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
