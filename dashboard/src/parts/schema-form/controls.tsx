// The controls of values that are not made of others.
import { useId, useState } from 'react'
import type { ControlProps } from '../field.tsx'
import type { ValueProps } from './group.tsx'
import { placeholderOf } from './schema.ts'

type Props = ValueProps & { control: ControlProps }

const asText = (value: unknown) => (value === undefined || value === null ? '' : String(value))

export function LineControl({ control, schema, value, onChange, names = [] }: Props) {
  const id = useId()
  return (
    <>
      <input
        {...control}
        className="input"
        dir="auto"
        spellCheck={false}
        autoComplete="off"
        list={names.length > 0 ? id : undefined}
        placeholder={placeholderOf(schema)}
        value={asText(value)}
        onChange={(event) => onChange(event.target.value)}
      />
      {names.length > 0 && (
        <datalist id={id}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </>
  )
}

export function TextControl({ control, schema, value, onChange }: Props) {
  return (
    <textarea
      {...control}
      className="input"
      dir="auto"
      rows={Math.min(24, Math.max(4, asText(value).split('\n').length + 1))}
      placeholder={placeholderOf(schema)}
      value={asText(value)}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

/** Digits become a number; anything else stays as it was typed, for the service to say what is wrong. */
function readNumber(text: string): unknown {
  return /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text
}

export function NumberControl({ control, schema, value, onChange }: Props) {
  // `1.` is on its way to `1.5`: what is typed is kept while it means the same.
  const [typed, setTyped] = useState(asText(value))
  const shown = readNumber(typed) === value ? typed : asText(value)
  return (
    <input
      {...control}
      className="input short"
      dir="auto"
      inputMode="decimal"
      autoComplete="off"
      placeholder={placeholderOf(schema)}
      value={shown}
      onChange={(event) => {
        setTyped(event.target.value)
        onChange(readNumber(event.target.value))
      }}
    />
  )
}

export function FlagControl({ control, value, onChange }: Props) {
  return (
    <span className="row">
      <input
        {...control}
        type="checkbox"
        className="check"
        checked={value === true}
        onChange={() => onChange(value !== true)}
      />
    </span>
  )
}

export function ChoiceControl({ control, schema, value, onChange }: Props) {
  const options = schema.enum ?? [schema.const]
  const chosen = options.indexOf(value)
  return (
    <select
      {...control}
      className="input"
      value={chosen}
      onChange={(event) => onChange(options[Number(event.target.value)])}
    >
      {chosen < 0 && <option value={-1}>{value === undefined ? 'Choose' : asText(value)}</option>}
      {options.map((option, index) => (
        <option key={asText(option)} value={index}>
          {asText(option)}
        </option>
      ))}
    </select>
  )
}

/** Free-form objects; what is not JSON yet is shown as such and not handed on. */
export function JsonControl({ control, value, onChange }: Props) {
  const [typed, setTyped] = useState<string>()
  const problem = typed === undefined ? undefined : jsonProblem(typed)
  const text = typed ?? JSON.stringify(value ?? {}, null, 2)
  function take(next: string): void {
    setTyped(next)
    if (jsonProblem(next) === undefined) onChange(JSON.parse(next))
  }
  return (
    <>
      <textarea
        {...control}
        className="input mono"
        dir="ltr"
        spellCheck={false}
        rows={Math.min(20, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => take(event.target.value)}
        onBlur={() => problem === undefined && setTyped(undefined)}
      />
      {problem !== undefined && <span className="problem">{problem}</span>}
    </>
  )
}

function jsonProblem(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return `This is not JSON yet: ${(error as Error).message}`
  }
}
