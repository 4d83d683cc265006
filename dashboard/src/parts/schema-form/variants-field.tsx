// A value that may be of several sorts: which one, and the value.
import { useId } from 'react'
import { Group } from './group.tsx'
import { emptyOf, type Schema, variantOf } from './schema.ts'
import { ValueField, type ValueProps } from './value-field.tsx'

const words: Record<string, string> = { string: 'text', integer: 'whole number', boolean: 'yes or no', array: 'list' }

function nameOf({ type = 'object' }: Schema): string {
  return words[type] ?? type
}

export function VariantsField(props: ValueProps) {
  const { schema, value, onChange } = props
  const options = schema.anyOf ?? []
  const chosen = variantOf(options, value)
  const id = useId()
  return (
    <Group {...props}>
      <div className="row">
        <label htmlFor={id}>As</label>
        <select
          id={id}
          className="input"
          value={chosen}
          onChange={(event) => onChange(emptyOf(options[Number(event.target.value)] ?? {}))}
        >
          {options.map((option, index) => (
            <option key={nameOf(option)} value={index}>
              {nameOf(option)}
            </option>
          ))}
        </select>
      </div>
      <ValueField {...props} name="Value" schema={options[chosen] ?? {}} isRequired={false} onRemove={undefined} />
    </Group>
  )
}
