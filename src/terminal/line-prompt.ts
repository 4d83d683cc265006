// Asks a person at the terminal for lines, and keeps what they type while nobody asks.
import { createInterface, type Interface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { LinePrompt, OpenPrompt, Typed } from '../cli/context.ts'
import { createTypedInput, type Piece } from './typed-input.ts'

type Terminal = { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream }

/** Asks the terminal to mark what is pasted (xterm, "Bracketed Paste Mode"). */
const marks = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

/** Undefined where nobody can type or see. */
export function createLinePrompt(terminal: Terminal, { isDumb }: { isDumb: boolean }): OpenPrompt | undefined {
  if (!terminal.stdin.isTTY || !terminal.stdout.isTTY) return undefined
  return () => openPrompt(terminal, isDumb ? { on: '', off: '' } : marks)
}

/** `end`: nobody types any more. */
type Taken = Piece | { type: 'end' }
type Asking = { lines: Interface; keys: PassThrough; output: NodeJS.WriteStream; resolve: (typed: Typed) => void }

/** Until it is closed the terminal is raw: what is typed is kept, and shown when it is asked for. */
function openPrompt({ stdin, stdout }: Terminal, { on, off }: typeof marks): LinePrompt {
  const waiting: Taken[] = []
  const decoder = new StringDecoder('utf8')
  let asking: Asking | undefined

  const enterRaw = () => {
    stdin.setRawMode(true)
    stdout.write(on)
  }
  const leaveRaw = () => {
    stdout.write(off)
    stdin.setRawMode(false)
  }

  function suspend(): void {
    leaveRaw()
    process.once('SIGCONT', () => {
      enterRaw()
      asking?.lines.prompt(true)
    })
    process.kill(process.pid, 'SIGTSTP')
  }

  function handOn(): void {
    while (asking !== undefined) {
      const piece = waiting.shift()
      if (piece === undefined) return
      applyPiece(asking, piece)
    }
  }

  function take(piece: Taken): void {
    if (piece.type === 'suspend') suspend()
    // While a turn runs nobody asks: Ctrl-C is for it.
    else if (piece.type === 'interrupt' && asking === undefined) process.kill(process.pid, 'SIGINT')
    else {
      waiting.push(piece)
      handOn()
    }
  }

  const input = createTypedInput(take)
  const onData = (chunk: Buffer) => input.feed(decoder.write(chunk))
  const onEnd = () => {
    input.end()
    take({ type: 'end' })
  }
  const onExit = () => void stdout.write(off)
  process.once('exit', onExit)
  // Closing a prompt pauses the input, which the next one must undo.
  stdin.on('data', onData).once('end', onEnd).once('error', onEnd).resume()
  enterRaw()
  return {
    ask: (question, history) =>
      new Promise((resolve) => {
        asking = openLines(stdout, history, (typed) => {
          asking = undefined
          resolve(typed)
        })
        asking.lines.setPrompt(question)
        asking.lines.prompt()
        handOn()
      }),
    close() {
      process.removeListener('exit', onExit)
      stdin.removeListener('data', onData).removeListener('end', onEnd).removeListener('error', onEnd).pause()
      leaveRaw()
    },
  }
}

function openLines(output: NodeJS.WriteStream, history: readonly string[], give: (typed: Typed) => void): Asking {
  const keys = new PassThrough()
  const lines = createInterface({
    input: keys,
    output,
    terminal: true,
    history: history.toReversed(),
    historySize: 500,
  })
  const resolve = (typed: Typed) => {
    give(typed)
    lines.close()
  }
  lines.once('SIGINT', () => {
    output.write('^C\n')
    resolve('interrupt')
  })
  lines.once('close', () => give('end'))
  return { lines, keys, output, resolve }
}

function applyPiece(asking: Asking, piece: Taken): void {
  const { lines, keys, resolve } = asking
  // Not written to the stream, which would give it on later than what comes next.
  const press = (text: string) => void keys.emit('data', Buffer.from(text))
  if (piece.type === 'keys') press(piece.text)
  else if (piece.type === 'text') insert(lines, piece.text)
  else if (piece.type === 'newline') insert(lines, '\n')
  else if (piece.type === 'enter') send(asking)
  else if (piece.type === 'interrupt') press('\u0003')
  else resolve('end')
}

/** Not by the key: the editor keeps a line for its history, where it turns a text of several lines round. */
function send({ lines, output, resolve }: Asking): void {
  const { line } = lines
  setText(lines, line, line.length)
  output.write('\n')
  resolve({ line })
}

/** The line editor takes a line end for the end of the line; in the text that it holds it may stand. */
function insert(lines: Interface, text: string): void {
  const { line, cursor } = lines
  setText(lines, line.slice(0, cursor) + text + line.slice(cursor), cursor + text.length)
}

function setText(lines: Interface, line: string, cursor: number): void {
  Object.assign(lines, { line, cursor })
  lines.prompt(true)
}
