// One value by its schema; the form of a whole object is made of these.
import { Field } from '../field.tsx'
import { ChoiceControl, FlagControl, JsonControl, LineControl, NumberControl, TextControl } from './controls.tsx'
import { FieldsField } from './fields-field.tsx'
import { useProblem } from './form-context.ts'
import { ListField } from './list-field.tsx'
import { MapField } from './map-field.tsx'
import { type Schema, type Shape, shapeOf } from './schema.ts'
import { VariantsField } from './variants-field.tsx'

export type ValueProps = {
  /** The field's own name, or what stands for it in a list. */
  name: string
  path: string
  schema: Schema
  value: unknown
  isRequired?: boolean
  onChange: (value: unknown) => void
  /** Absent: it cannot be taken away. */
  onRemove?: (() => void) | undefined
  /** Names to choose from. */
  names?: readonly string[]
}

const groups: Partial<Record<Shape, (props: ValueProps) => React.ReactNode>> = {
  fields: FieldsField,
  list: ListField,
  map: MapField,
  variants: VariantsField,
}

const controls: Partial<Record<Shape, typeof LineControl>> = {
  choice: ChoiceControl,
  constant: ChoiceControl,
  flag: FlagControl,
  number: NumberControl,
  text: TextControl,
  json: JsonControl,
}

export function ValueField(props: ValueProps) {
  const shape = shapeOf(props.schema)
  const Group = groups[shape]
  return Group === undefined ? <SimpleField {...props} shape={shape} /> : <Group {...props} />
}

function SimpleField({ shape, ...props }: ValueProps & { shape: Shape }) {
  const { name, path, schema, isRequired = false, onRemove } = props
  const problem = useProblem(path, shape === 'json')
  const Control = controls[shape] ?? LineControl
  return (
    <div className="value-field">
      <Field label={name} hint={schema.description} problem={problem} isRequired={isRequired}>
        {(control) => <Control {...props} control={control} />}
      </Field>
      <RemoveButton name={name} onRemove={onRemove} />
    </div>
  )
}

export function RemoveButton({ name, onRemove }: Pick<ValueProps, 'name' | 'onRemove'>) {
  if (onRemove === undefined) return null
  return (
    <button
      type="button"
      className="button icon-button"
      data-look="plain"
      aria-label={`Remove ${name}`}
      title="Remove"
      onClick={onRemove}
    >
      ✕
    </button>
  )
}
