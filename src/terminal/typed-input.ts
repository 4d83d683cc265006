// What a person types or pastes, told apart: a text of several lines that comes at once is one text, not many lines.

export type Piece =
  /** As the terminal sent them, without line ends. */
  | { type: 'keys'; text: string }
  /** Pasted; lines end with `\n`. */
  | { type: 'text'; text: string }
  | { type: 'newline' | 'enter' | 'interrupt' | 'suspend' }

export type TypedInput = {
  feed(chunk: string): void
  /** Hands on what is held back, at the end of the input. */
  end(): void
}

const paste = { start: '\u001b[200~', end: '\u001b[201~' }
/** Nobody types so fast, and a text that is pasted comes faster. */
const quietMs = 15
const lineEnd = /\r\n|\r|\n/
// biome-ignore lint/suspicious/noControlCharactersInRegex: one is the escape key
const mayGoOn = /[\r\n\u001b]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys that are not text come as control characters
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
const controls = new RegExp(control, 'g')

/** `emit` gets the pieces in order; `hold` calls back once nothing has come for a while. */
export function createTypedInput(
  emit: (piece: Piece) => void,
  hold: (work: () => void, ms: number) => () => void = holdBack,
): TypedInput {
  let held = ''
  let letGo = () => {}

  function release(): void {
    letGo()
    held = emitPieces(held, emit)
  }

  return {
    feed(chunk) {
      held += chunk
      letGo()
      // A line end may be the first of many, and an escape the first sign of a mark: what follows at once tells.
      if (mayGoOn.test(held) && !held.includes('\u0003')) letGo = hold(release, quietMs)
      else release()
    },
    end() {
      release()
      emitBurst(held.replace(paste.start, ''), emit)
      held = ''
    },
  }
}

function holdBack(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

/** Gives back the beginning of a paste whose end has not come yet. */
function emitPieces(text: string, emit: (piece: Piece) => void): string {
  let rest = text
  for (let start = rest.indexOf(paste.start); start !== -1; start = rest.indexOf(paste.start)) {
    emitBurst(rest.slice(0, start), emit)
    rest = rest.slice(start)
    const end = rest.indexOf(paste.end)
    if (end === -1) return rest
    emit({ type: 'text', text: cleanText(rest.slice(paste.start.length, end)) })
    rest = rest.slice(end + paste.end.length)
  }
  emitBurst(rest, emit)
  return ''
}

/** Lines end with `\n`, and nothing in it drives the terminal. */
function cleanText(text: string): string {
  return text.split(lineEnd).join('\n').replace(controls, '')
}

/** What came at once, outside of marks. */
function emitBurst(text: string, emit: (piece: Piece) => void): void {
  const body = text.replace(/(?:\r\n|\r|\n)$/, '')
  if (lineEnd.test(body) && !control.test(body)) {
    emit({ type: 'text', text: cleanText(body) })
    if (body !== text) emit({ type: 'enter' })
  } else for (const [part] of text.matchAll(keyParts)) emit(readPart(part, text))
}

// Alt+Enter, a line end, Ctrl-C, Ctrl-Z, or anything else.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the keys
const keyParts = /\u001b[\r\n]|\r\n|[\r\n\u0003\u001a]|(?:(?!\u001b[\r\n])[^\r\n\u0003\u001a])+/g

const ownKeys: Record<string, Piece> = {
  '\u001b\r': { type: 'newline' },
  '\u001b\n': { type: 'newline' },
  '\r': { type: 'enter' },
  '\r\n': { type: 'enter' },
  '\u0003': { type: 'interrupt' },
  '\u001a': { type: 'suspend' },
}

/** Ctrl-J sends `\n` alone; after a text that was sent along it is the end of the line. */
function readPart(part: string, burst: string): Piece {
  if (part === '\n') return { type: burst === '\n' ? 'newline' : 'enter' }
  return ownKeys[part] ?? { type: 'keys', text: part }
}
