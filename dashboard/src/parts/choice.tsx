import { useId } from 'react'
import { useParameters } from './scope.ts'
import { visible } from './visible-text.ts'

type ChoiceProps = {
  /** Of the address. */
  name: string
  label: string
  values: readonly string[]
  /** Other words for values. */
  words?: Readonly<Record<string, string>>
  /** What nothing chosen means. */
  none?: string
}

/** A filter of the address: one of some values, or none. */
export function Choice({ name, label, values, words = {}, none = `${label}: any` }: ChoiceProps) {
  const [parameters, change] = useParameters()
  const id = useId()
  return (
    <>
      <label htmlFor={id} className="visually-hidden">
        {label}
      </label>
      <select
        id={id}
        className="input"
        value={parameters.get(name) ?? ''}
        onChange={(event) => change({ [name]: event.target.value })}
      >
        <option value="">{none}</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {visible((Object.hasOwn(words, value) && words[value]) || value)}
          </option>
        ))}
      </select>
    </>
  )
}
