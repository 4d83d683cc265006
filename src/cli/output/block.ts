// Lines on a terminal that are drawn again in their place.
import { cutTo, makeHarmlessKeepingColors } from './printable.ts'

export type Block = {
  /** As many of the lines as the terminal has rows for, each cut to one row. */
  draw(lines: readonly string[]): void
  /** All of the lines, for good. */
  end(lines: readonly string[]): void
}

type Screen = { write(text: string): unknown; columns?: number; rows?: number }

const usual = { columns: 80, rows: 24 }

/** Takes away `count` lines above the one that the cursor is in, and that one. */
export function eraseUp(count: number): string {
  return count === 0 ? '\r\u001b[J' : `\r\u001b[${count}A\u001b[J`
}

/** The lines as rows of the screen that cannot wrap; more than `most` are told as a number. */
export function fitLines(lines: readonly string[], { columns }: Screen, most: number): string[] {
  const rest = lines.length - most + 1
  const fitting = lines.length <= most ? lines : [...lines.slice(0, Math.max(0, most - 1)), `… and ${rest} more`]
  const room = Math.max(1, (columns || usual.columns) - 1)
  return fitting.map((line) => makeHarmlessKeepingColors(cutTo(line.replaceAll('\n', ' '), room)))
}

export function createBlock(screen: Screen): Block {
  let drawn = 0
  const write = (lines: readonly string[]) => {
    screen.write(`${eraseUp(drawn)}${lines.map((line) => `${line}\n`).join('')}`)
    drawn = lines.length
  }
  return {
    draw: (lines) => write(fitLines(lines, screen, (screen.rows || usual.rows) - 1)),
    end: (lines) => write(lines.map(makeHarmlessKeepingColors)),
  }
}
