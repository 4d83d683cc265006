// Asks a person at the terminal for a line.
import { createInterface } from 'node:readline'
import type { LinePrompt } from '../cli/context.ts'

type Terminal = { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream }

/** Undefined where nobody can type or see. Between questions Ctrl-C is a signal again. */
export function createLinePrompt({ stdin, stdout }: Terminal): LinePrompt | undefined {
  if (!stdin.isTTY || !stdout.isTTY) return undefined
  return (question, history) =>
    new Promise((resolve) => {
      // An interface of its own for each line: while none is open the terminal is not raw.
      const lines = createInterface({ input: stdin, output: stdout, history: history.toReversed(), historySize: 500 })
      lines.once('SIGINT', () => {
        stdout.write('^C\n')
        resolve('interrupt')
        lines.close()
      })
      lines.once('close', () => resolve('end'))
      lines.question(question, (line) => {
        resolve({ line })
        lines.close()
      })
    })
}
