// Runs in the pod of a command, beside it: reads what the command writes to stdout and to stderr, and writes both as the lines
// of one log, each marked with its stream. The text of this file goes into the pod's spec, so it imports nothing but Node's own.
import { constants, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'

/** First letter of a line of the log: the descriptor that was written to. */
export const marks = {
  stdout: '1',
  stderr: '2',
  /** Alone on the last line: both streams are over. */
  over: '0',
} as const

/** Second letter: what follows was a whole line, goes on with the next line of the stream, or ended without a line feed. */
export const endings = { line: ' ', goesOn: '+', cutOff: '.' } as const

/** What of a line is buffered until its end comes; containerd cuts the log in such pieces too. */
const bufferBytes = 16 * 1024
const lineFeed = Buffer.from('\n')
/** The runtime takes what was written last before the container may end. */
const lingerMs = 500
const retryMs = 5

export type Tagger = { push(chunk: Buffer): void; end(): void }

/** Cuts a stream into marked lines; each call of `write` gets whole ones. */
export function createTagger(stream: '1' | '2', write: (bytes: Buffer) => void): Tagger {
  const head = (ending: string) => Buffer.from(`${stream}${ending}`)
  const heads = { line: head(endings.line), goesOn: head(endings.goesOn), cutOff: head(endings.cutOff) }
  let buffered: Buffer = Buffer.alloc(0)
  return {
    push(chunk) {
      const pieces: Buffer[] = []
      let start = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        pieces.push(heads.line, buffered, chunk.subarray(start, end + 1))
        buffered = Buffer.alloc(0)
        start = end + 1
      }
      buffered = Buffer.concat([buffered, chunk.subarray(start)])
      if (buffered.length >= bufferBytes) {
        pieces.push(heads.goesOn, buffered, lineFeed)
        buffered = Buffer.alloc(0)
      }
      if (pieces.length > 0) write(Buffer.concat(pieces))
    },
    end() {
      if (buffered.length > 0) write(Buffer.concat([heads.cutOff, buffered, lineFeed]))
    },
  }
}

/** What the runtime puts before each line: a moment, the stream and whether the line is whole. */
const lineHeadBytes = 40
/** Below what a kubelet keeps in one file by default (10 MiB, containerLogMaxSize), which it looks at each ten seconds. */
const paceBytes = 8 * 1024 ** 2
const paceMs = 10_000

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

export type Pace = { now(): number; pause(ms: number): void }

/**
 * A kubelet gives out only the last file of a log, so that what a follower has not read when two files were filled since is
 * lost: a command that writes faster than files may be filled waits.
 */
export function createPacer({ now, pause }: Pace): (bytes: Buffer) => void {
  let free = paceBytes
  let last = now()
  return (bytes) => {
    const rest = free - (bytes.length + lineHeadBytes * countLines(bytes))
    const waitMs = (-rest * paceMs) / paceBytes - (now() - last)
    if (waitMs > 0) pause(Math.ceil(waitMs))
    const passed = now() - last
    last += passed
    free = Math.min(paceBytes, rest + (passed * paceBytes) / paceMs)
  }
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1
  return count
}

/** Waits for whoever takes it, and so does the command. When nobody is left to, the command is not blocked by that. */
function createLogWriter(): (bytes: Buffer) => void {
  const pace = createPacer({ now: () => performance.now(), pause })
  let isGone = false
  const tryWrite = (bytes: Buffer, from: number): number => {
    try {
      return writeSync(1, bytes, from)
    } catch (error) {
      isGone = (error as NodeJS.ErrnoException).code !== 'EAGAIN'
      if (!isGone) pause(retryMs)
      return 0
    }
  }
  return (bytes) => {
    if (isGone) return
    pace(bytes)
    for (let written = 0; written < bytes.length && !isGone; ) written += tryWrite(bytes, written)
  }
}

/** Opened without waiting for the command, which may never come. */
function openPipe(path: string): Socket {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return new Socket({ fd, readable: true, writable: false })
}

/** Ends after TERM, which comes once the command is over, when nothing has come for a moment. */
export function tagStreams(folder: string): void {
  const write = createLogWriter()
  const alive = setInterval(() => undefined, 2 ** 30)
  let leaving: NodeJS.Timeout | undefined
  let open = 2
  const leave = () => {
    clearTimeout(leaving)
    leaving = setTimeout(() => process.exit(0), lingerMs)
  }
  const follow = (name: string, stream: '1' | '2') => {
    const tagger = createTagger(stream, write)
    const pipe = openPipe(`${folder}/${name}`)
    pipe.on('data', (chunk: Buffer) => {
      tagger.push(chunk)
      if (leaving !== undefined) leave()
    })
    pipe.on('error', () => undefined)
    pipe.on('close', () => {
      tagger.end()
      open -= 1
      if (open === 0) write(Buffer.from(`${marks.over}\n`))
    })
  }
  process.once('SIGTERM', () => {
    clearInterval(alive)
    leave()
  })
  follow('out', marks.stdout)
  follow('err', marks.stderr)
}
