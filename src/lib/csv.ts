// Comma-separated values (RFC 4180) that spreadsheets can open without harm.

/** A cell that begins so is a formula for a spreadsheet. */
const formulaStarts = ['=', '+', '-', '@', '\t', '\r']

function writeCell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const safe = formulaStarts.some((start) => value.startsWith(start)) ? `'${value}` : value
  return ['"', ',', '\n', '\r'].some((special) => safe.includes(special)) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A line per row, each with its end. */
export function formatCsv(rows: readonly (readonly (string | number | undefined)[])[]): string {
  return rows.map((row) => `${row.map(writeCell).join(',')}\r\n`).join('')
}
