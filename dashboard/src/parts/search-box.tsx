// Words to search for; they stand in the address, so that a link finds the same.
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useParameters } from './scope.ts'
import './search-box.css'

type SearchBoxProps = {
  label: string
  /** Of the address; default `q`. */
  name?: string
  placeholder?: string
  /** The most characters that the service takes. */
  most?: number
  /** Taken with Enter, or on leaving the field: what is half typed would be refused. */
  isTakenWhole?: boolean
}

/** Nobody wants an answer for each letter. */
const restMs = 250

export function SearchBox({ label, name = 'q', placeholder, most, isTakenWhole = false }: SearchBoxProps) {
  const [parameters, change] = useParameters()
  const inAddress = parameters.get(name) ?? ''
  const [text, setText] = useState(inAddress)
  const asked = useRef(inAddress)
  // Whoever follows a link sees what it seeks; what comes of typing takes no letter away that was typed meanwhile.
  useEffect(() => {
    if (inAddress !== asked.current) setText(inAddress)
    asked.current = inAddress
  }, [inAddress])
  function take(): void {
    if (text.trim() === inAddress) return
    asked.current = text.trim()
    change({ [name]: asked.current })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once the text has rested
  useEffect(() => {
    if (isTakenWhole || text.trim() === inAddress) return
    const timer = setTimeout(take, restMs)
    return () => clearTimeout(timer)
  }, [text, inAddress, isTakenWhole])
  return (
    <input
      className="input search-box"
      type="search"
      dir="auto"
      aria-label={label}
      placeholder={placeholder ?? label}
      maxLength={most}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={take}
      onKeyDown={(event: KeyboardEvent) => event.key === 'Enter' && take()}
    />
  )
}
