// One line of text with its label, in whatever direction it is written.
import type { ComponentProps } from 'react'
import { Field, type FieldProps } from './field.tsx'

type TextFieldProps = Omit<FieldProps, 'children'> &
  Omit<ComponentProps<'input'>, keyof FieldProps | 'id' | 'onChange'> & {
    value: string
    onText: (text: string) => void
  }

export function TextField(props: TextFieldProps) {
  const { label, hint, problem, isRequired, onText, className = '', ...input } = props
  return (
    <Field label={label} hint={hint} problem={problem} isRequired={isRequired}>
      {(control) => (
        <input
          dir="auto"
          autoComplete="off"
          spellCheck={false}
          {...input}
          {...control}
          className={`input ${className}`}
          onChange={(event) => onText(event.target.value)}
        />
      )}
    </Field>
  )
}
