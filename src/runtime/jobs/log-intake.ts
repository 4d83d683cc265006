// Distributes the records of a log: stdout to the output, the end of stderr to the attempt's message, and the lines of
// both that are not stored yet to the logs.
import { StringDecoder } from 'node:string_decoder'
import { createLineSplitter } from '../attempts/output/line-reader.ts'
import type { OutputTail } from '../attempts/output/output-tail.ts'
import type { Stored } from './log-position.ts'
import type { LogRecord } from './streams/records.ts'

export type IntakeOptions = {
  tail: OutputTail
  stored: Stored
  store(lines: string[]): Promise<void>
  /** Called with the last line of each batch once it is stored; the receiver finds its number in the store. */
  noteStored(stamp: bigint, bytes: number): Promise<void>
}

export type Intake = {
  write(record: LogRecord): void
  /** Resolves when everything written has been delivered. */
  flush(): Promise<void>
  end(): Promise<void>
  /** The last part of stderr. */
  errorTail(): string
}

const errorTailLength = 4096

/** The lines of one stream. */
function createLines() {
  const decoder = new StringDecoder('utf8')
  const splitter = createLineSplitter()
  return {
    take: (bytes: Buffer) => splitter.push(decoder.write(bytes)),
    end: () => [...splitter.push(decoder.end()), ...splitter.end()],
  }
}

export function createIntake({ tail, stored, store, noteStored }: IntakeOptions): Intake {
  const streams = { stdout: createLines(), stderr: createLines() }
  let output: Buffer[] = []
  /** Consecutive records of one stream, to be split into lines together. */
  let run: LogRecord[] = []
  let fresh: string[] = []
  let errors = ''
  let unsaved = 0
  let last = 0n

  function takeLines(stream: LogRecord['stream'], lines: string[], stamp: bigint): void {
    if (lines.length > 0) last = stamp
    if (stream === 'stderr') errors = [errors, ...lines].join('\n').slice(-errorTailLength)
    for (const line of lines) {
      if (!stored.covers(stamp)) fresh.push(line)
    }
  }

  function takeRun(): void {
    const record = run.at(-1)
    if (record === undefined) return
    const { stream, stamp, isCutOff } = record
    const lines = streams[stream].take(Buffer.concat(run.map(({ bytes }) => bytes)))
    run = []
    takeLines(stream, isCutOff ? [...lines, ...streams[stream].end()] : lines, stamp)
  }

  async function flush(): Promise<void> {
    takeRun()
    const [bytes, lines, stamp] = [Buffer.concat(output), fresh, last]
    output = []
    fresh = []
    if (bytes.length > 0) await tail.write(bytes)
    if (lines.length === 0) return
    await store(lines)
    await noteStored(stamp, unsaved)
    unsaved = 0
  }

  return {
    write(record) {
      const { stream, bytes, stamp, isCutOff } = record
      if (run[0] !== undefined && run[0].stream !== stream) takeRun()
      if (stream === 'stdout') output.push(bytes)
      unsaved += bytes.length
      run.push(record)
      // Lines that may be stored already are checked one by one.
      if (isCutOff || !stored.endsBefore(stamp)) takeRun()
    },
    flush,
    async end() {
      takeRun()
      takeLines('stdout', streams.stdout.end(), last)
      takeLines('stderr', streams.stderr.end(), last)
      await flush()
    },
    errorTail: () => errors.trim(),
  }
}
