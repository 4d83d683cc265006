// Makes text from elsewhere safe for a terminal: it cannot control it, and its width is known.
import { randomUUID } from 'node:crypto'

const firstPicture = 0x2400
const deletePicture = '\u2421'
const replacement = '\ufffd'

/** Control characters except tab and newline, and marks that reorder text, become visible signs. */
export function makeHarmless(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, showControl)
}

function showControl(character: string): string {
  if (character === '\n' || character === '\t') return character
  const code = character.charCodeAt(0)
  if (code === 0x7f) return deletePicture
  return code < 0x20 ? String.fromCharCode(firstPicture + code) : replacement
}

const escapeSign = String.fromCharCode(27)
/** Marks this program's own colours until they are written: text from elsewhere cannot guess it. */
const ownMark = randomUUID()
const ownColor = new RegExp(`${ownMark}(\\d+m)`)

/** A text between the codes that start and end a colour (ECMA-48, SGR), for `makeHarmlessKeepingColors`. */
export function paint(text: string, start: number, end: number): string {
  return `${ownMark}${start}m${text}${ownMark}${end}m`
}

/** The same for a text with colours from `paint`: any other codes are shown, not obeyed. */
export function makeHarmlessKeepingColors(text: string): string {
  return text
    .split(ownColor)
    .map((part, index) => (index % 2 === 1 ? `${escapeSign}[${part}` : makeHarmless(part)))
    .join('')
}

const wide =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\uff01-\uff60]/u
const joining = /[\p{M}\u200b-\u200d]/u

function widthOfCharacter(character: string): number {
  if (character < '\u0300' || character === '\u2026') return 1
  if (joining.test(character)) return 0
  return wide.test(character) ? 2 : 1
}

/** The columns that the text takes on a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += widthOfCharacter(character)
  return width
}

export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** The text, shortened with an ellipsis when it is wider. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let cut = ''
  let used = 1
  for (const character of text) {
    used += widthOfCharacter(character)
    if (used > width) break
    cut += character
  }
  return `${cut.trimEnd()}…`
}
