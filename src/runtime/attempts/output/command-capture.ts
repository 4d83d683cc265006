// The output of a command: both streams go to the logs, stdout also to the tail that becomes the result.
import { createLineFeed, forgive, type LineFeed, type TakeLines } from './line-reader.ts'
import type { OutputTail } from './output-tail.ts'

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
