// Prompts a person for lines at the terminal, and keeps what they type between prompts.
import { createInterface, type Interface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { LinePrompt, OpenPrompt, PromptAnswer } from '../client/machine.ts'
import { createKeyboardInput, type Piece } from './keyboard-input.ts'

type Terminal = { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream }

/** Tells the terminal to mark pasted text (xterm, "Bracketed Paste Mode"). */
const marks = { on: '\u001b[?2004h', off: '\u001b[?2004l' }

/** Undefined when input or output is not a terminal. */
export function createLinePrompt(terminal: Terminal, { isDumb }: { isDumb: boolean }): OpenPrompt | undefined {
  if (!terminal.stdin.isTTY || !terminal.stdout.isTTY) return undefined
  return () => openPrompt(terminal, isDumb ? { on: '', off: '' } : marks)
}

/** `end`: the input has ended. */
type Taken = Piece | { type: 'end' }
type Asking = {
  lines: Interface
  keys: PassThrough
  output: NodeJS.WriteStream
  resolve: (typed: PromptAnswer) => void
}

/** The terminal is in raw mode until the prompt is closed: what is typed is kept, and shown at the next question. */
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
    // Without an open question a turn is running, and Ctrl-C is meant for it.
    else if (piece.type === 'interrupt' && asking === undefined) process.kill(process.pid, 'SIGINT')
    else {
      waiting.push(piece)
      handOn()
    }
  }

  const input = createKeyboardInput(take)
  const onData = (chunk: Buffer) => input.feed(decoder.write(chunk))
  const onEnd = () => {
    input.end()
    take({ type: 'end' })
  }
  const onExit = () => void stdout.write(off)
  process.once('exit', onExit)
  // Closing the previous prompt paused the input.
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

function openLines(
  output: NodeJS.WriteStream,
  history: readonly string[],
  give: (typed: PromptAnswer) => void,
): Asking {
  const keys = new PassThrough()
  const lines = createInterface({
    input: keys,
    output,
    terminal: true,
    history: history.toReversed(),
    historySize: 500,
  })
  const resolve = (typed: PromptAnswer) => {
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
  // Emitted, not written: a written piece would reach the editor after later ones.
  const press = (text: string) => void keys.emit('data', Buffer.from(text))
  if (piece.type === 'keys') press(piece.text)
  else if (piece.type === 'text') insert(lines, piece.text)
  else if (piece.type === 'newline') insert(lines, '\n')
  else if (piece.type === 'enter') send(asking)
  else if (piece.type === 'interrupt') press('\u0003')
  else resolve('end')
}

/** Done here and not by the editor's Enter key, which would put a text of several lines into the history in reverse. */
function send({ lines, output, resolve }: Asking): void {
  const { line } = lines
  setText(lines, line, line.length)
  output.write('\n')
  resolve({ line })
}

/** The editor would treat a typed line end as Enter, but its text may contain one, so the text is set directly. */
function insert(lines: Interface, text: string): void {
  const { line, cursor } = lines
  setText(lines, line.slice(0, cursor) + text + line.slice(cursor), cursor + text.length)
}

function setText(lines: Interface, line: string, cursor: number): void {
  Object.assign(lines, { line, cursor })
  lines.prompt(true)
}
