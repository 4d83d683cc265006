// By which a line ends the paragraph before it.

const start = /^ {0,3}(?:#{1,6}[ \t]|>|`{3}|~{3}|[-*+][ \t]|\d{1,9}[.)][ \t])/

/** A fence, heading, quote or item of a list. */
export function startsBlock(line: string): boolean {
  return start.test(line)
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|')
    .map((cell) => cell.trim())
}

type Table = { head: string[]; rows: string[][]; end: number }

/** A line with bars above a line of dashes; each further line with a bar is a row. */
export function tableAt(lines: readonly string[], at: number): Table | undefined {
  const [head = '', dashes = ''] = lines.slice(at, at + 2)
  if (!head.includes('|') || !dashes.includes('-') || !/^[\s:|-]+$/.test(dashes)) return undefined
  const titles = cellsOf(head)
  if (cellsOf(dashes).length !== titles.length) return undefined
  let end = at + 2
  while (lines[end]?.includes('|')) end += 1
  const rows = lines.slice(at + 2, end).map((line) => cellsOf(line).slice(0, titles.length))
  return { head: titles, rows, end }
}
