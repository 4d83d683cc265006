// A log line in a segment file: `<attempt> <text>` and a line end, with the text escaped by stored-text.ts.
import { decodeText, encodeLine } from '../database/stored-text.ts'

/** Longest text of a line in bytes of UTF-8, the note of a cut included (TASK-050). */
const LINE_BYTES = 64 * 1024
const NOTE_BYTES = 64
const LINE_END = 0x0a

function takePrefix(text: string, limit: number): string {
  let prefix = text.slice(0, limit)
  for (let bytes = Buffer.byteLength(prefix); bytes > limit; bytes = Buffer.byteLength(prefix)) {
    prefix = prefix.slice(0, Math.floor((prefix.length * limit) / bytes))
  }
  // Half of a surrogate pair would not be what was written.
  return /[\uD800-\uDBFF]$/.test(prefix) ? prefix.slice(0, -1) : prefix
}

/** The line, or its beginning and a note when it is too long. */
function cutLine(text: string): string {
  // A code unit takes at most three bytes.
  if (text.length * 3 <= LINE_BYTES) return text
  const bytes = Buffer.byteLength(text)
  if (bytes <= LINE_BYTES) return text
  return `${takePrefix(text, LINE_BYTES - NOTE_BYTES)} [cut: the line had ${bytes} bytes]`
}

export function encodeLogLine(attempt: number, text: string): string {
  return `${attempt} ${encodeLine(cutLine(text))}\n`
}

export function decodeLogLine(stored: string): { attempt: number; text: string } {
  const space = stored.indexOf(' ')
  return { attempt: Number(stored.slice(0, space)), text: decodeText(stored.slice(space + 1)) }
}

/** The complete lines of the bytes, with the offset of each; anything after the last line end is left out. */
export function* splitLines(bytes: Buffer): Generator<{ start: number; end: number }> {
  let start = 0
  for (let end = bytes.indexOf(LINE_END); end !== -1; end = bytes.indexOf(LINE_END, start)) {
    yield { start, end }
    start = end + 1
  }
}

/**
 * How many bytes at the start are complete lines. A power cut may leave half a line, or zeros where data was not
 * written yet; no line contains a NUL byte, so both can be recognized.
 */
export function findSoundLength(bytes: Buffer): number {
  const damage = bytes.indexOf(0)
  const sound = damage === -1 ? bytes : bytes.subarray(0, damage)
  return sound.lastIndexOf(LINE_END) + 1
}
