// Watches the run of a command, the beginning of its output and the files that come with it, and reports its outcome,
// whatever it runs in.
import type { Readable } from 'node:stream'
import { SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import { isInnerPath } from '../../lib/inner-path.ts'
import type { SandboxOutcome } from '../../ports/workspaces/sandbox.ts'
import type { GroupEvents, ProcessExit } from './end.ts'

/** Where no control group counts, a program that reached its memory limit says so itself. */
const outOfMemoryWords = /JavaScript heap out of memory|^MemoryError|[Cc]annot allocate|bad_alloc/m

function findExceeded(exit: ProcessExit, events: GroupEvents, errorText: string): SandboxOutcome['exceeded'] {
  if (exit.code === 0) return undefined
  if (exit.signal === 'SIGXCPU') return 'cpu'
  if (exit.signal === 'SIGXFSZ') return 'disk'
  if (events.memoryKills > 0 || outOfMemoryWords.test(errorText)) return 'memory'
  return events.refusedForks > 0 || /[Cc]annot fork|fork: |Resource temporarily unavailable/.test(errorText)
    ? 'processes'
    : undefined
}

export type TimeLimit = { timedOut(): boolean; stop(): void }

/** Kills at the timeout or when the caller aborts. */
export function limitTime(timeoutMs: number, signal: AbortSignal, kill: () => void): TimeLimit {
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    kill()
  }, timeoutMs)
  const removeListener = onAbort(signal, kill)
  const stop = () => {
    clearTimeout(timer)
    removeListener()
  }
  return { timedOut: () => timedOut, stop }
}

export type RunFacts = {
  exit: ProcessExit
  stdout: CapturedOutput
  stderr: CapturedOutput
  events: GroupEvents
  timedOut: boolean
  /** It was stopped because of what it wrote. */
  wasOverfull: boolean
}

export function composeOutcome({ exit, stdout, stderr, events, timedOut, wasOverfull }: RunFacts): SandboxOutcome {
  const found = wasOverfull ? 'disk' : findExceeded(exit, events, stderr.text)
  const exceeded = timedOut ? undefined : found
  return {
    exitCode: exit.code,
    signal: exit.signal,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
    timedOut,
    exceeded,
  }
}

type CapturedOutput = { text: string; truncated: boolean }

type HeadBuffer = { write(chunk: Buffer): void; read(): CapturedOutput }

/**
 * Keeps the first `limit` bytes (never half a character) and drops the rest, so that a flood cannot fill the memory.
 */
export function createHeadBuffer(limit: number): HeadBuffer {
  const parts: Buffer[] = []
  let size = 0
  let truncated = false
  return {
    write: (chunk) => {
      const part = chunk.subarray(0, limit - size)
      truncated ||= part.length < chunk.length
      if (part.length > 0) parts.push(part)
      size += part.length
    },
    read: () => ({ text: new TextDecoder().decode(Buffer.concat(parts), { stream: truncated }), truncated }),
  }
}

/** Reads to the end of the stream. */
export async function captureOutput(stream: Readable, limit: number): Promise<CapturedOutput> {
  const buffer = createHeadBuffer(limit)
  for await (const chunk of stream as AsyncIterable<Buffer>) buffer.write(chunk)
  return buffer.read()
}

const maxInputFiles = 64

/** File names are relative and stay below the scratch folder; inside the sandbox a bad one could only harm itself. */
export function checkFileNames(names: string[]): void {
  if (names.length > maxInputFiles)
    throw new SvcError('InvalidRequest', `At most ${maxInputFiles} files can be handed to a sandbox.`)
  for (const name of names) {
    if (!isInnerPath(name))
      throw new SvcError(
        'InvalidRequest',
        `"${name}" is not a relative file name: use letters, digits and "/", without "..".`,
      )
  }
}
