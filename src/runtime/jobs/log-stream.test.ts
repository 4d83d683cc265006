import { describe, expect, it } from 'vitest'
import { countStored, readPosition, writePosition } from './log-intake.ts'
import { createLogReader, createLogSieve, type LogLinePart, readStamp, writeSecond } from './log-stream.ts'

const at = (nanos: number) => `2026-03-01T12:00:00.${String(nanos).padStart(9, '0')}Z`
const log = [`${at(1)} one\n`, `${at(1)} again at once\n`, `${at(2)} \n`, `${at(3)} ünïcode\n`, `${at(4)} no end`].join(
  '',
)

function readIn(pieces: Iterable<Buffer>): LogLinePart[] {
  const reader = createLogReader()
  return [...pieces].flatMap((piece) => reader.push(piece))
}

function* cut(text: string, size: number): Generator<Buffer> {
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

const join = (parts: Buffer[]) => Buffer.concat(parts).toString('utf8')

describe('a log as the kubelet sends it', () => {
  it.each([1, 2, 7, 30, 64, 1000])(
    'is split into lines and timestamps, also when it arrives in pieces of %i bytes',
    (size) => {
      const parts = readIn(cut(log, size))
      expect(join(parts.map(({ bytes }) => bytes))).toBe('one\nagain at once\n\nünïcode\nno end')
      const lines = parts.filter(({ isEnd }) => isEnd).map(({ stamp }) => Number(stamp % 1000n))
      expect(lines).toEqual([1, 1, 2, 3])
    },
  )

  it('has timestamps to the nanosecond, in any time zone', () => {
    expect(readStamp('2026-03-01T12:00:00.000000001Z')).toBe(readStamp('2026-03-01T13:00:00.000000001+01:00'))
    expect(readStamp('2026-03-01T12:00:00.5Z')).toBe(readStamp('2026-03-01T12:00:00.500000000Z'))
    expect(readStamp('failed to watch')).toBeUndefined()
    expect(writeSecond(readStamp('2026-03-01T12:00:07.999999999Z') ?? 0n)).toBe('2026-03-01T12:00:07.000Z')
  })

  it('passes on the kubelet’s own messages, which have no timestamp', () => {
    const parts = readIn([
      Buffer.from(`${at(1)} one\nfailed to watch the file of this very log, whatever that may mean here\n`),
    ])
    expect(join(parts.map(({ bytes }) => bytes))).toContain('failed to watch the file')
  })

  it.each([1, 5, 29, 60, 90])('is passed on once when it is read again from the start after %i bytes', (length) => {
    const sieve = createLogSieve()
    const taken: Buffer[] = []
    for (const text of [log.slice(0, length), log.slice(0, length + 20), log]) {
      sieve.rewind()
      for (const part of readIn(cut(text, 11))) taken.push(sieve.take(part))
    }
    expect(join(taken)).toBe('one\nagain at once\n\nünïcode\nno end')
  })
})

describe('a log that is read again', () => {
  const read = (sieve: ReturnType<typeof createLogSieve>, text: string) => {
    sieve.rewind()
    return join(readIn(cut(text, 11)).map((part) => sieve.take(part)))
  }

  it('loses no line whose timestamp is earlier than that of the line before it', () => {
    const shuffled = [`${at(5)} out\n`, `${at(4)} err\n`, `${at(5)} out\n`, `${at(3)} late\n`].join('')
    const sieve = createLogSieve()
    expect(read(sieve, shuffled)).toBe('out\nerr\nout\nlate\n')
    expect(read(sieve, `${shuffled}${at(4)} new\n`)).toBe('new\n')
  })

  it('yields the lines that are there when it was rotated meanwhile', () => {
    const sieve = createLogSieve()
    read(sieve, log)
    expect(read(sieve, `2026-03-01T12:00:09.000000000Z after\n`)).toBe('after\n')
  })
})

type Line = { seq: number; attempt: number; text: string }
const storeOf = (lines: Line[]) =>
  ({
    async *read(_: string, { tailLines }: { tailLines?: number }) {
      yield* tailLines === undefined ? lines : lines.slice(-tailLines)
    },
  }) as never

describe('the stored part of a log', () => {
  const uncovered = async (lines: Line[], attempt: number, position?: string) => {
    const stored = await countStored(storeOf(lines), { taskUid: 'u', attempt }, readPosition(position))
    return readIn([Buffer.from(log)])
      .filter(({ stamp }) => !stored.covers(stamp))
      .map(({ bytes }) => bytes.toString('utf8'))
  }
  const line = (seq: number, attempt: number): Line => ({ seq, attempt, text: 'x' })

  it('is known by counting the lines of the attempt, without those of earlier attempts', async () => {
    expect((await uncovered([], 1)).length).toBe(5)
    expect(await uncovered([line(1, 1), line(2, 1)], 1)).toEqual(['\n', 'ünïcode\n', 'no end'])
    expect(await uncovered([line(1, 1), line(2, 1), line(3, 2)], 2)).toEqual([
      'again at once\n',
      '\n',
      'ünïcode\n',
      'no end',
    ])
  })

  it('is known from the saved position when the store has dropped the oldest lines', async () => {
    const position = writePosition({ stamp: readStamp(at(2)) ?? 0n, seq: 900 })
    expect(await uncovered([line(900, 2), line(901, 2)], 2, position)).toEqual(['no end'])
    expect(readPosition('nonsense')).toBeUndefined()
  })
})
