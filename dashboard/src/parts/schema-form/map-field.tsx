// Values by keys that the writer chooses.
import { useState } from 'react'
import { Button } from '../button.tsx'
import { Field } from '../field.tsx'
import { Group } from './group.tsx'
import { childPath, emptyOf, type Fields, type Schema } from './schema.ts'
import { ValueField, type ValueProps } from './value-field.tsx'

export function MapField(props: ValueProps) {
  const { path, schema, value, onChange } = props
  const fields = (value ?? {}) as Fields
  const items = schema.additionalProperties as Schema
  return (
    <Group {...props}>
      {Object.entries(fields).map(([key, entry]) => (
        <ValueField
          key={key}
          name={key}
          path={childPath(path, key)}
          schema={items}
          value={entry}
          isRequired
          onChange={(next) => onChange({ ...fields, [key]: next })}
          onRemove={() => onChange(Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key)))}
        />
      ))}
      <NewKey
        example={Object.keys((schema.examples?.[0] ?? {}) as object)[0]}
        taken={Object.keys(fields)}
        onAdd={(key) => onChange({ ...fields, [key]: emptyOf(items) })}
      />
    </Group>
  )
}

type NewKeyProps = { example: string | undefined; taken: readonly string[]; onAdd: (key: string) => void }

function NewKey({ example, taken, onAdd }: NewKeyProps) {
  const [key, setKey] = useState('')
  const isTaken = taken.includes(key)
  function add(): void {
    if (key === '' || isTaken) return
    onAdd(key)
    setKey('')
  }
  return (
    <div className="new-key">
      <Field label="New key" problem={isTaken ? 'This key is there already.' : undefined}>
        {(control) => (
          <input
            {...control}
            className="input"
            dir="auto"
            autoComplete="off"
            placeholder={example && `such as ${example}`}
            value={key}
            onChange={(event) => setKey(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return
              event.preventDefault()
              add()
            }}
          />
        )}
      </Field>
      <Button className="small" disabled={key === '' || isTaken} onClick={add}>
        Add
      </Button>
    </div>
  )
}
