import type { ButtonHTMLAttributes } from 'react'
import './button.css'

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  look?: 'main' | 'danger' | 'plain' | undefined
  busy?: boolean
}

/** While `busy` it does nothing, and says so. */
export function Button({ look, busy = false, className = '', disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`button ${className}`}
      data-look={look}
      aria-busy={busy}
      disabled={disabled === true || busy}
    />
  )
}
