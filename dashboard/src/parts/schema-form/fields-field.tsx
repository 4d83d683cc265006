// An object: its fields that are needed or there, and the others to be added.
import { useContext } from 'react'
import { Button } from '../button.tsx'
import { Foreign } from '../foreign.tsx'
import { FormContext, isBelow } from './form-context.ts'
import { Group } from './group.tsx'
import { alternativesOf, childPath, emptyOf, type Fields, type Schema } from './schema.ts'
import { ValueField, type ValueProps } from './value-field.tsx'

export function FieldsField(props: ValueProps) {
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
  return /([A-Za-z]+)(\[\d+\])*$/.exec(path)?.[1] ?? ''
}

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
