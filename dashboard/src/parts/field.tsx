// A labelled control with its hint and its problem, which screen readers hear with it.
import { type ReactNode, useId } from 'react'
import { Foreign } from './foreign.tsx'
import { Hint } from './hint.tsx'
import './field.css'

export type ControlProps = { id: string; 'aria-describedby': string | undefined; 'aria-invalid': boolean | undefined }

export type FieldProps = {
  label: string
  hint?: string | undefined
  problem?: string | undefined
  isRequired?: boolean | undefined
  /** Draws the control with the ids that tie it to its label. */
  children: (control: ControlProps) => ReactNode
}

export function Field({ label, hint, problem, isRequired = false, children }: FieldProps) {
  const id = useId()
  const told = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {isRequired && <span className="soft"> (required)</span>}
      </label>
      {children({
        id,
        'aria-describedby': told === '' ? undefined : told,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <span id={`${id}-hint`} className="hint">
          <Hint text={hint} />
        </span>
      )}
      {problem !== undefined && (
        <span id={`${id}-problem`} className="problem">
          <Foreign text={problem} />
        </span>
      )}
    </div>
  )
}
