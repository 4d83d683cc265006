// Entries of a secret as one types them: a name and a value each.
import { Button } from '../../parts/button.tsx'
import { addRow, changeRow, dataOf, type EntryRow } from '../../parts/entry-rows.ts'
import { TextField } from '../../parts/text-field.tsx'

type RowsProps = {
  rows: readonly EntryRow[]
  problem?: string | undefined
  onChange: (rows: EntryRow[]) => void
}

/** What is filled in. */
export const filledIn = (rows: readonly EntryRow[]) => dataOf(rows.filter(({ value }) => value !== ''))

export function ValueRows({ rows, problem, onChange }: RowsProps) {
  const change = (id: number, part: Partial<EntryRow>) => onChange(changeRow(rows, id, part))
  return (
    <div className="stack">
      {problem !== undefined && <p className="problem">{problem}</p>}
      {rows.map(({ id, key, value }) => (
        <div key={id} className="grid value-row">
          <TextField label="Entry" value={key} onText={(next) => change(id, { key: next })} />
          <TextField
            label="Value"
            hint="It is never shown again."
            type="password"
            value={value}
            onText={(next) => change(id, { value: next })}
          />
        </div>
      ))}
      <div>
        <Button className="small" onClick={() => onChange(addRow(rows))}>
          Another entry
        </Button>
      </div>
    </div>
  )
}
