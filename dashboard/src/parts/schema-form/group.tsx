// What every field is given, and the frame of a value that is made of others: its name, what it is for, and what is wrong with it.
import type { ReactNode } from 'react'
import { Foreign } from '../foreign.tsx'
import { Hint } from '../hint.tsx'
import { useProblem } from './form-context.ts'
import type { Schema } from './schema.ts'

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

type GroupProps = Pick<ValueProps, 'name' | 'path' | 'schema' | 'isRequired' | 'onRemove'> & { children: ReactNode }

export function Group({ name, path, schema, isRequired, onRemove, children }: GroupProps) {
  const problem = useProblem(path)
  return (
    <fieldset className="group">
      <legend>
        {name}
        {isRequired && <span className="soft"> (required)</span>}
        <RemoveButton name={name} onRemove={onRemove} />
      </legend>
      {schema.description !== undefined && (
        <p className="hint">
          <Hint text={schema.description} />
        </p>
      )}
      {problem !== undefined && (
        <p className="problem">
          <Foreign text={problem} />
        </p>
      )}
      {children}
    </fieldset>
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
