// Reads the marked lines of a tagger back into the two streams.
import type { LogPart } from '../log-stream.ts'
import { endings, marks } from './tagger.ts'

/** Bytes of a stream, without marks. */
export type LogRecord = {
  stamp: bigint
  stream: 'stdout' | 'stderr'
  bytes: Buffer
  /** The stream ended here, without a line feed. */
  isCutOff: boolean
}

export type RecordReader = {
  /** What of the part belongs to a stream, or undefined; `over` at the end of both. */
  take(part: LogPart): LogRecord | 'over' | undefined
}

const markLength = 2
const streams: Record<string, LogRecord['stream']> = { [marks.stdout]: 'stdout', [marks.stderr]: 'stderr' }

/** A log without marks is one stream. */
export function createPlainReader(): RecordReader {
  return { take: ({ stamp, bytes }) => ({ stamp, stream: 'stdout', bytes, isCutOff: false }) }
}

/** What has no mark is the kubelet's own word, such as that a file is gone. */
function readRecord(mark: string, part: LogPart): LogRecord | undefined {
  const { stamp, bytes, isEnd } = part
  const [first = '', ending] = mark
  const stream = streams[first]
  if (stream === undefined || ending === undefined) return undefined
  // The line feed of a line that had none is the tagger's.
  const isForeign = isEnd && ending !== endings.line
  return {
    stamp,
    stream,
    bytes: isForeign ? bytes.subarray(0, -1) : bytes,
    isCutOff: isEnd && ending === endings.cutOff,
  }
}

export function createRecordReader(): RecordReader {
  let line: { stamp: bigint; mark: string } | undefined

  /** A line that the log lost the end of is over where another begins. */
  function findLine(stamp: bigint) {
    if (line?.stamp !== stamp) line = { stamp, mark: '' }
    return line
  }

  return {
    take(part) {
      const present = findLine(part.stamp)
      const missing = markLength - present.mark.length
      present.mark += part.bytes.toString('latin1', 0, missing)
      if (part.isEnd) line = undefined
      if (present.mark.startsWith(marks.over)) return part.isEnd ? 'over' : undefined
      return readRecord(present.mark, { ...part, bytes: part.bytes.subarray(missing) })
    },
  }
}
