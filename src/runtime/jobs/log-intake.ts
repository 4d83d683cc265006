// Distributes the records of a log: stdout to the output, the end of stderr to the attempt's message, and the lines of
// both that are not stored yet to the logs.
import { StringDecoder } from 'node:string_decoder'
import { createLineSplitter } from '../../lib/line-reader.ts'
import type { OutputTail } from '../../lib/output-tail.ts'
import type { Logs } from '../../ports/tasks/outputs.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import type { LogRecord } from './streams/launch.ts'

/** A line of the log, with the time that the kubelet gave it. */
export type WrittenLine = { text: string; time: number; stream: LogRecord['stream'] }

export type IntakeOptions = {
  tail: OutputTail
  stored: Stored
  store(lines: WrittenLine[]): Promise<void>
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
const nanosecondsPerMs = 1_000_000n
const newline = 10

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
  let fresh: WrittenLine[] = []
  let errors = ''
  let unsaved = 0
  let last = 0n
  /** The stamp of what was written last, which may have ended no line. */
  let seen = 0n

  /** `times`: the stamps of the lines, in order. */
  function takeLines(stream: LogRecord['stream'], lines: string[], stamp: bigint, times: bigint[]): void {
    if (lines.length > 0) last = stamp
    if (stream === 'stderr') errors = [errors, ...lines].join('\n').slice(-errorTailLength)
    for (const [at, text] of lines.entries()) {
      const time = Number((times[at] ?? stamp) / nanosecondsPerMs)
      if (!stored.covers(stamp)) fresh.push({ text, time, stream })
    }
  }

  function takeRun(): void {
    const record = run.at(-1)
    if (record === undefined) return
    const { stream, stamp, isCutOff } = record
    const lines = streams[stream].take(Buffer.concat(run.map(({ bytes }) => bytes)))
    const ended = run.filter(({ bytes: part }) => part.at(-1) === newline).map(({ stamp: end }) => end)
    run = []
    takeLines(stream, isCutOff ? [...lines, ...streams[stream].end()] : lines, stamp, [...ended, stamp])
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
      seen = stamp
      run.push(record)
      // Lines that may be stored already are checked one by one.
      if (isCutOff || !stored.endsBefore(stamp)) takeRun()
    },
    flush,
    async end() {
      takeRun()
      takeLines('stdout', streams.stdout.end(), last, [seen])
      takeLines('stderr', streams.stderr.end(), last, [seen])
      await flush()
    },
    errorTail: () => errors.trim(),
  }
}

// How much of an attempt's log is stored: from the position recorded with the Job, and the lines in the store.

/** The line with this timestamp is the task's line `seq` in the store. */
export type StoredLogPosition = { stamp: bigint; seq: number }

export function writePosition({ stamp, seq }: StoredLogPosition): string {
  return `${stamp} ${seq}`
}

export function readPosition(text: string | undefined): StoredLogPosition | undefined {
  const match = /^(\d{1,20}) (\d{1,15})$/.exec(text ?? '')
  return match === null ? undefined : { stamp: BigInt(match[1] ?? 0), seq: Number(match[2]) }
}

/** Tells what is already stored: called once for each line from the start of the log, when the line is complete. */
export type Stored = {
  covers(stamp: bigint): boolean
  /** Whether nothing from there on is stored. */
  endsBefore(stamp: bigint): boolean
}

/** The number of the task's last line in the store; 0 when there is none. */
export async function readLastSeq(logs: Logs, taskUid: string): Promise<number> {
  for await (const { seq } of logs.read(taskUid, { tailLines: 1 })) return seq
  return 0
}

/** The number of the last line of earlier attempts; the lines of this one follow. */
async function readBase(logs: Logs, key: AttemptKey): Promise<number> {
  if (key.attempt === 1) return 0
  let base = 0
  for await (const line of logs.read(key.taskUid, {})) {
    if (line.attempt >= key.attempt) break
    base = line.seq
  }
  return base
}

/** Lines are stored in the order of their ends. */
export async function countStored(logs: Logs, key: AttemptKey, position?: StoredLogPosition): Promise<Stored> {
  const last = await readLastSeq(logs, key.taskUid)
  const base = position?.seq ?? (last === 0 ? 0 : await readBase(logs, key))
  let left = Math.max(0, last - base)
  return {
    covers(stamp) {
      if (position !== undefined && stamp <= position.stamp) return true
      if (left === 0) return false
      left -= 1
      return true
    },
    endsBefore: (stamp) => left === 0 && (position === undefined || stamp > position.stamp),
  }
}
