// Tells typing and pasting apart: several lines that arrive at once are one text, not several lines.

export type Piece =
  /** Keys as the terminal sent them, without line ends. */
  | { type: 'keys'; text: string }
  /** Pasted text; its lines end with `\n`. */
  | { type: 'text'; text: string }
  | { type: 'newline' | 'enter' | 'interrupt' | 'suspend' }

export type KeyboardInput = {
  feed(chunk: string): void
  /** Passes on what is buffered; called at the end of the input. */
  end(): void
}

const paste = { start: '\u001b[200~', end: '\u001b[201~' }
/** No one types this fast, and pasted text arrives faster. */
const quietMs = 15
const lineEnd = /\r\n|\r|\n/
// biome-ignore lint/suspicious/noControlCharactersInRegex: one is the escape key
const mayGoOn = /[\r\n\u001b]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys that are not text come as control characters
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/
const controls = new RegExp(control, 'g')

/** `emit` receives the pieces in order; `defer` calls back once no input has arrived for a while. */
export function createKeyboardInput(
  emit: (piece: Piece) => void,
  defer: (work: () => void, ms: number) => () => void = deferByTimer,
): KeyboardInput {
  let buffer = ''
  let cancelRelease = () => {}

  function release(): void {
    cancelRelease()
    buffer = emitPieces(buffer, emit)
  }

  return {
    feed(chunk) {
      buffer += chunk
      cancelRelease()
      // A line end may begin a paste and an escape may begin a mark; what follows immediately decides.
      if (mayGoOn.test(buffer) && !buffer.includes('\u0003')) cancelRelease = defer(release, quietMs)
      else release()
    },
    end() {
      release()
      emitBurst(buffer.replace(paste.start, ''), emit)
      buffer = ''
    },
  }
}

function deferByTimer(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

/** Returns the beginning of a paste whose end has not arrived yet. */
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

/** Pasted text with `\n` at line ends and without control characters. */
function cleanText(text: string): string {
  return text.split(lineEnd).join('\n').replace(controls, '')
}

/** Input that arrived at once, outside of paste marks. */
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

/** Ctrl-J sends a lone `\n`; a `\n` that arrives together with text is Enter. */
function readPart(part: string, burst: string): Piece {
  if (part === '\n') return { type: burst === '\n' ? 'newline' : 'enter' }
  return ownKeys[part] ?? { type: 'keys', text: part }
}
