// A list: its entries, in order, and one more.
import { Button } from '../button.tsx'
import { Group } from './group.tsx'
import { childPath, emptyOf } from './schema.ts'
import { ValueField, type ValueProps } from './value-field.tsx'

export function ListField(props: ValueProps) {
  const { path, schema, value, onChange } = props
  const entries = Array.isArray(value) ? (value as unknown[]) : []
  const items = schema.items ?? {}
  return (
    <Group {...props}>
      {entries.map((entry, index) => (
        <ValueField
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no name but their place
          key={index}
          name={String(index + 1)}
          path={childPath(path, index)}
          schema={items}
          value={entry}
          onChange={(next) => onChange(entries.with(index, next))}
          onRemove={() => onChange(entries.toSpliced(index, 1))}
        />
      ))}
      <div className="add-fields">
        <Button className="small" onClick={() => onChange([...entries, emptyOf(items)])}>
          Add to {props.name}
        </Button>
      </div>
    </Group>
  )
}
