// A log line in a segment file: `<attempt> <text>` and a line end, with the text escaped by stored-text.ts.
import { cutLine } from '../../lib/line-reader.ts'
import { decodeText, encodeLine } from '../database/stored-text.ts'

const LINE_END = 0x0a

/** Lines that are too long are cut (TASK-050). */
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
