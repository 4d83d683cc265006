import { describe, expect, it } from 'vitest'
import { countStored, createIntake, type WrittenLine } from './log-intake.ts'
import type { LogRecord } from './streams/launch.ts'

const record = (stamp: number, stream: LogRecord['stream'], text: string, isCutOff = false): LogRecord => ({
  stamp: BigInt(stamp) * 1_000_000_000n,
  stream,
  bytes: Buffer.from(text),
  isCutOff,
})
/** A long line of stdout begins, stderr has two lines meanwhile, and the last word of stdout has no line feed. */
const log = [
  record(1, 'stdout', 'begun '),
  record(2, 'stderr', 'bad\n'),
  record(3, 'stderr', 'worse\n'),
  record(4, 'stdout', 'and done\n'),
  record(5, 'stdout', 'no end', true),
  record(6, 'stderr', 'last words\n'),
]
const lines = [
  { text: 'bad', time: 2000, stream: 'stderr' },
  { text: 'worse', time: 3000, stream: 'stderr' },
  { text: 'begun and done', time: 4000, stream: 'stdout' },
  { text: 'no end', time: 5000, stream: 'stdout' },
  { text: 'last words', time: 6000, stream: 'stderr' },
]

/** What an intake does with the log when the first `stored` lines are stored already. */
async function takeIn(stored: number, flushEach: number) {
  const logs = {
    async *read() {
      if (stored > 0) yield { seq: stored, attempt: 1, text: 'x' }
    },
  } as never
  const taken: WrittenLine[] = []
  const output: Buffer[] = []
  const intake = createIntake({
    stored: await countStored(logs, { taskUid: 'u', attempt: 1 }),
    tail: { write: async (bytes: Buffer) => void output.push(bytes) } as never,
    store: async (more) => void taken.push(...more),
    noteStored: async () => undefined,
  })
  for (const [index, one] of log.entries()) {
    intake.write(one)
    if (index % flushEach === 0) await intake.flush()
  }
  await intake.end()
  return { taken, output: Buffer.concat(output).toString('utf8'), errorTail: intake.errorTail() }
}

describe('the log that the service takes in', () => {
  it.each([1, 2, 3, 100])(
    'is stored by line in the order in which lines end; the output is stdout alone (%i)',
    async (flushEach) => {
      expect(await takeIn(0, flushEach)).toEqual({
        taken: lines,
        output: 'begun and done\nno end',
        errorTail: 'bad\nworse\nlast words',
      })
    },
  )

  it.each([1, 2, 3, 4, 5])('is stored once when the service restarts after %i lines', async (stored) => {
    const { taken, output, errorTail } = await takeIn(stored, 2)
    expect(taken).toEqual(lines.slice(stored))
    expect(output).toBe('begun and done\nno end')
    expect(errorTail).toContain('last words')
  })
})
