// The frame of a value that is made of others: its name, what it is for, and what is wrong with it as a whole.
import type { ReactNode } from 'react'
import { Foreign } from '../foreign.tsx'
import { Hint } from '../hint.tsx'
import { useProblem } from './form-context.ts'
import { RemoveButton, type ValueProps } from './value-field.tsx'

type GroupProps = Pick<ValueProps, 'name' | 'path' | 'schema' | 'isRequired' | 'onRemove'> & { children: ReactNode }

export function Group({ name, path, schema, isRequired, onRemove, children }: GroupProps) {
  const problem = useProblem(path)
  return (
    <fieldset className="group">
      <legend>
        {name}
        {isRequired && <span className="soft"> (needed)</span>}
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
