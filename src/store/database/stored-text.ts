// How all free text is stored: any JavaScript string survives in every database, even with NUL or lone surrogates.
// PostgreSQL refuses NUL in text (https://www.postgresql.org/docs/current/datatype-character.html) and UTF-8 has no form
// for a lone surrogate, so both are escaped, and so is the backslash. All other text is stored as it is.
import { SvcError } from '../../errors.ts'
import { tryParseJson } from '../../lib/json.ts'

const UNSTORABLE = /[\\\0]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g
const ESCAPED = /\\(?:([\\0n])|u([0-9A-F]{4}))/g
const UNESCAPED: Record<string, string> = { '\\': '\\', '0': '\0', n: '\n' }

function escapeCharacter(character: string): string {
  if (character === '\\') return '\\\\'
  if (character === '\0') return '\\0'
  return `\\u${character.charCodeAt(0).toString(16).toUpperCase()}`
}

/** The stored form of a text; different texts have different forms. */
export function encodeText(text: string): string {
  return text.replace(UNSTORABLE, escapeCharacter)
}

/** Like encodeText, but without line ends. */
export function encodeLine(text: string): string {
  return encodeText(text).replaceAll('\n', '\\n')
}

/** Reverses encodeText and encodeLine. */
export function decodeText(stored: string): string {
  if (!stored.includes('\\')) return stored
  return stored.replace(ESCAPED, (_, short: string | undefined, code: string | undefined) =>
    short === undefined ? String.fromCharCode(Number.parseInt(code ?? '', 16)) : (UNESCAPED[short] ?? ''),
  )
}

/** encodeText for a value that may be absent. */
export function encodeOptional(text: string | undefined): string | null {
  return text === undefined ? null : encodeText(text)
}

/** decodeText for a column that may be null. */
export function decodeOptional(stored: string | null): string | undefined {
  return stored === null ? undefined : decodeText(stored)
}

/** Makes the opaque cursor that a list hands out; decodeCursor checks it. */
export function encodeCursor(parts: string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** The parts of a cursor made by encodeCursor. InvalidRequest for any other text. */
export function decodeCursor(cursor: string, length: number): string[] {
  const bad = () => new SvcError('InvalidRequest', 'continue is not a token of this list: start again without it')
  const parts = tryParseJson(Buffer.from(cursor, 'base64url').toString('utf8'))
  if (!Array.isArray(parts) || parts.length !== length) throw bad()
  return parts.map((part) => {
    if (typeof part !== 'string') throw bad()
    return part
  })
}
