// Runs the system's tools from a small shell beside the service. Starting a program copies the tables of the starter's memory, and blocks
// it until the program has had its turn on a processor: of the service that is 5 to 60 ms each time, in which it answers nobody.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { quoteWords } from '../../lib/shell-words.ts'

export type ToolShell = {
  /** Runs a tool to its end, several at the same time. Rejects with the first line of what it says when it fails. */
  run(name: string, args: readonly string[]): Promise<void>
}

type Ended = { status: number; words: string }

const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
const maxSeconds = 30
const notFound = 127

/** In the background, without the input of the shell, which is its script; answers with one line. */
function writeCommand(id: number, words: readonly string[]): string {
  const command = quoteWords(words)
  return `{ said=$(exec timeout ${maxSeconds} ${command} 2>&1 >/dev/null </dev/null); echo "${id} $? \${said%%"$end"*}"; } &\n`
}

export function createToolShell(): ToolShell {
  const waiting = new Map<number, (ended: Ended) => void>()
  let shell: ChildProcessWithoutNullStreams | undefined
  let last = 0

  /** It keeps the service alive only while somebody waits for it. */
  function keepAlive(child: ChildProcessWithoutNullStreams): void {
    const parts = [child, child.stdin as Socket, child.stdout as Socket]
    for (const part of parts) waiting.size > 0 ? part.ref() : part.unref()
  }

  function settle(child: ChildProcessWithoutNullStreams, line: string): void {
    const [, id, status, words = ''] = /^(\d+) (\d+) (.*)$/.exec(line) ?? []
    waiting.get(Number(id))?.({ status: Number(status), words })
    waiting.delete(Number(id))
    keepAlive(child)
  }

  function abandon(why: string): void {
    shell = undefined
    for (const end of waiting.values()) end({ status: 1, words: why })
    waiting.clear()
  }

  function open(): ChildProcessWithoutNullStreams {
    const child = spawn('/bin/sh', ['-s'], { env: environment, cwd: '/' })
    child.stdin.on('error', () => undefined)
    child.stderr.resume()
    ;(child.stderr as Socket).unref()
    createInterface({ input: child.stdout }).on('line', (line) => settle(child, line))
    child.once('error', (error) => abandon(error.message))
    child.once('exit', () => abandon('the shell that runs tools was ended'))
    child.stdin.write(`end='\n'\n`)
    return child
  }

  return {
    async run(name, args) {
      shell ??= open()
      last += 1
      const id = last
      const { promise, resolve } = Promise.withResolvers<Ended>()
      waiting.set(id, resolve)
      keepAlive(shell)
      shell.stdin.write(writeCommand(id, [name, ...args]))
      const { status, words } = await promise
      if (status === notFound) throw new Error(`${name}: it is not installed`)
      if (status !== 0) throw new Error(`${name}: ${words || `it ended with status ${status}`}`)
    },
  }
}

/** One for the whole service. */
export const systemTools = createToolShell()
