// The fields of an object by its schema. A value may be made of values, so the components below draw one another.
import { useContext, useId, useState } from 'react'
import { Button } from '../button.tsx'
import { Field } from '../field.tsx'
import { Foreign } from '../foreign.tsx'
import { TextField } from '../text-field.tsx'
import { ChoiceControl, FlagControl, JsonControl, LineControl, NumberControl, TextControl } from './controls.tsx'
import { FormContext, isBelow, useProblem } from './form-context.ts'
import { Group, RemoveButton, type ValueProps } from './group.tsx'
import {
  alternativesOf,
  childPath,
  emptyOf,
  type Fields,
  type Schema,
  type Shape,
  shapeOf,
  variantOf,
} from './schema.ts'
import { isSwitchList, SwitchList } from './switch-list.tsx'
import './schema-fields.css'

type SchemaFieldsProps = {
  path: string
  schema: Schema
  value: Fields
  onChange: (value: Fields) => void
}

/** The fields alone, without a frame. */
export function SchemaFields({ path, schema, value, onChange }: SchemaFieldsProps) {
  const { namesFor } = useContext(FormContext)
  const { properties = {}, required = [] } = schema
  const shown = Object.keys(properties).filter((name) => required.includes(name) || value[name] !== undefined)
  const absent = Object.keys(properties).filter((name) => !shown.includes(name))
  const rivals = alternativesOf(schema)
  const set = (name: string, next: unknown) =>
    onChange({ ...without(value, rivals.includes(name) ? rivals : []), [name]: next })
  return (
    <>
      {shown.map((name) => (
        <ValueField
          key={name}
          name={name}
          path={childPath(path, name)}
          schema={properties[name] as Schema}
          value={value[name]}
          isRequired={required.includes(name)}
          names={name === 'name' ? namesFor(lastName(path)) : []}
          onChange={(next) => set(name, next)}
          onRemove={required.includes(name) ? undefined : () => onChange(without(value, [name]))}
        />
      ))}
      <AbsentProblems path={path} names={absent} />
      <AddFields
        names={absent}
        properties={properties}
        rivals={rivals}
        onAdd={(name) => set(name, emptyOf(properties[name] as Schema))}
      />
    </>
  )
}

function without(value: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
}

/** Problems of fields that are not shown. */
function AbsentProblems({ path, names }: { path: string; names: readonly string[] }) {
  const { problems } = useContext(FormContext)
  const found = problems.filter((problem) =>
    names.some((name) => problem.path === childPath(path, name) || isBelow(problem.path, childPath(path, name))),
  )
  return found.map((problem) => (
    <p key={`${problem.path} ${problem.message}`} className="problem">
      <code>{problem.path.slice(path === '' ? 0 : path.length + 1)}</code> <Foreign text={problem.message} />
    </p>
  ))
}

type AddFieldsProps = {
  names: readonly string[]
  properties: Record<string, Schema>
  rivals: readonly string[]
  onAdd: (name: string) => void
}

function AddFields({ names, properties, rivals, onAdd }: AddFieldsProps) {
  if (names.length === 0) return null
  return (
    <div className="add-fields">
      <span className="soft">Add:</span>
      {names.map((name) => (
        <Button key={name} className="small" title={properties[name]?.description} onClick={() => onAdd(name)}>
          {rivals.includes(name) && names.length < Object.keys(properties).length ? `${name} instead` : name}
        </Button>
      ))}
    </div>
  )
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

/** One value by its schema. */
function ValueField(props: ValueProps) {
  const shape = shapeOf(props.schema)
  const Group = shape === 'list' && isSwitchList(props.schema) ? SwitchList : groups[shape]
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

/** An object: its fields that are required or there, and the others to be added. */
function FieldsField(props: ValueProps) {
  const { helpFor } = useContext(FormContext)
  const { path, schema, value, onChange } = props
  return (
    <Group {...props}>
      <SchemaFields path={path} schema={schema} value={(value ?? {}) as Fields} onChange={onChange} />
      {helpFor({ field: lastName(path), schema, value, onChange })}
    </Group>
  )
}

/** The name of the field that a path ends with, without places in lists. */
function lastName(path: string): string {
  return /([A-Za-z]{1,200})(?:\[\d{1,9}\]){0,99}$/.exec(path)?.[1] ?? ''
}

/** A list: its entries, in order, and one more. */
function ListField(props: ValueProps) {
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

/** Values by keys that the writer chooses. */
function MapField(props: ValueProps) {
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
      <TextField
        label="New key"
        problem={isTaken ? 'This key is there already.' : undefined}
        placeholder={example && `such as ${example}`}
        value={key}
        onText={setKey}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          event.preventDefault()
          add()
        }}
      />
      <Button className="small" disabled={key === '' || isTaken} onClick={add}>
        Add
      </Button>
    </div>
  )
}

const words: Record<string, string> = { string: 'text', integer: 'whole number', boolean: 'yes or no', array: 'list' }

function nameOf({ type = 'object' }: Schema): string {
  return words[type] ?? type
}

/** A value that may be of several sorts: which one, and the value. */
function VariantsField(props: ValueProps) {
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
