// Rows of a form that is filled in entry by entry: a name and a text each.

export type EntryRow = { id: number; key: string; value: string }

/** With one more at the end. */
export function addRow(rows: readonly EntryRow[], key = ''): EntryRow[] {
  return [...rows, { id: Math.max(0, ...rows.map(({ id }) => id)) + 1, key, value: '' }]
}

export function changeRow(rows: readonly EntryRow[], id: number, part: Partial<EntryRow>): EntryRow[] {
  return rows.map((row) => (row.id === id ? { ...row, ...part } : row))
}

export function rowsOf(data: Readonly<Record<string, string>>): EntryRow[] {
  return Object.entries(data).map(([key, value], at) => ({ id: at + 1, key, value }))
}

/** Of two rows of one name the later one counts. */
export function dataOf(rows: readonly EntryRow[]): Record<string, string> {
  return Object.fromEntries(rows.filter(({ key }) => key !== '').map(({ key, value }) => [key, value]))
}
