// Colours that programs write for terminals, as pieces of a line. Grounds and movements of the cursor are left out.
import { visible } from './visible-text.ts'

export type AnsiPiece = {
  text: string
  /** 0 black, 1 red, 2 green, 3 yellow, 4 blue, 5 magenta, 6 cyan, 7 white. */
  colour?: number
  isBold?: boolean
  isSoft?: boolean
}

type Style = Omit<AnsiPiece, 'text'>

const esc = String.fromCharCode(27)
/** Select Graphic Rendition (ECMA-48 8.3.117). */
const rendition = new RegExp(`${esc}\\[([0-9;:]{0,60})m`)

/** Colours by number: 16 of the terminal; the others have no names here. */
function extended(codes: number[]): Style | undefined {
  const [mode, number = 16] = codes.splice(0, codes[0] === 2 ? 4 : 2)
  return mode === 5 && number < 16 ? { colour: number % 8 } : undefined
}

function plainColour(code: number): number | undefined {
  if (code >= 30 && code <= 37) return code - 30
  return code >= 90 && code <= 97 ? code - 90 : undefined
}

/** What the codes of a font do. */
const fonts: Record<number, Style> = {
  1: { isBold: true },
  2: { isSoft: true },
  22: { isBold: false, isSoft: false },
}

function withoutColour({ colour: _, ...style }: Style): Style {
  return style
}

/** After one code; what belongs to it is taken from those that follow. */
function applyOne(style: Style, code: number, codes: number[]): Style {
  if (code === 0) return {}
  if (code === 39) return withoutColour(style)
  if (code === 38) return { ...style, ...extended(codes) }
  if (code === 48) extended(codes)
  const colour = plainColour(code)
  return { ...style, ...fonts[code], ...(colour !== undefined && { colour }) }
}

function apply(style: Style, codes: number[]): Style {
  let next = style
  for (let code = codes.shift(); code !== undefined; code = codes.shift()) next = applyOne(next, code, codes)
  return next
}

/** The line in pieces, each safe to look at; one piece where it has no colours. */
export function ansiPieces(line: string): AnsiPiece[] {
  if (!line.includes(esc)) return [{ text: visible(line) }]
  const [first = '', ...rest] = line.split(rendition)
  const pieces: AnsiPiece[] = [{ text: visible(first) }]
  let style: Style = {}
  for (let index = 0; index < rest.length; index += 2) {
    style = apply(style, (rest[index] ?? '').split(/[;:]/).map(Number))
    pieces.push({ text: visible(rest[index + 1] ?? ''), ...style })
  }
  return pieces.filter(({ text }) => text !== '')
}
