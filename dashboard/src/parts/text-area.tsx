// Text of several lines, in whatever direction it is written.
import type { ComponentProps } from 'react'

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'onChange' | 'dir'> & {
  value: string
  onText: (text: string) => void
}

export function TextArea({ onText, className = '', ...control }: TextAreaProps) {
  return (
    <textarea
      {...control}
      className={`input ${className}`}
      dir="auto"
      onChange={(event) => onText(event.target.value)}
    />
  )
}
