// Entries of a secret as one types them: a name and a value each.
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'

export type ValueRow = { id: number; key: string; value: string }

type RowsProps = {
  rows: readonly ValueRow[]
  problem?: string | undefined
  onChange: (rows: ValueRow[]) => void
}

export function newRow(rows: readonly ValueRow[], key = ''): ValueRow {
  return { id: Math.max(0, ...rows.map(({ id }) => id)) + 1, key, value: '' }
}

/** What is filled in. */
export function dataOf(rows: readonly ValueRow[]): Record<string, string> {
  return Object.fromEntries(
    rows.filter(({ key, value }) => key !== '' && value !== '').map(({ key, value }) => [key, value]),
  )
}

export function ValueRows({ rows, problem, onChange }: RowsProps) {
  const change = (id: number, part: Partial<ValueRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...part } : row)))
  return (
    <div className="stack">
      {problem !== undefined && <p className="problem">{problem}</p>}
      {rows.map(({ id, key, value }) => (
        <div key={id} className="grid value-row">
          <Field label="Entry">
            {(control) => (
              <input
                {...control}
                className="input"
                dir="auto"
                autoComplete="off"
                spellCheck={false}
                value={key}
                onChange={(event) => change(id, { key: event.target.value })}
              />
            )}
          </Field>
          <Field label="Value" hint="It is never shown again.">
            {(control) => (
              <input
                {...control}
                className="input"
                type="password"
                autoComplete="off"
                spellCheck={false}
                value={value}
                onChange={(event) => change(id, { value: event.target.value })}
              />
            )}
          </Field>
        </div>
      ))}
      <div>
        <Button className="small" onClick={() => onChange([...rows, newRow(rows)])}>
          Another entry
        </Button>
      </div>
    </div>
  )
}
