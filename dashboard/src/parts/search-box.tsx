// Words to search for; they stand in the address, so that a link finds the same.
import { useEffect, useState } from 'react'
import { useParameters } from '../app/scope.ts'
import '../styles/search-box.css'

type SearchBoxProps = {
  label: string
  /** Of the address; default `q`. */
  name?: string
  placeholder?: string
}

/** Nobody wants an answer for each letter. */
const restMs = 250

export function SearchBox({ label, name = 'q', placeholder }: SearchBoxProps) {
  const [parameters, change] = useParameters()
  const inAddress = parameters.get(name) ?? ''
  const [text, setText] = useState(inAddress)
  // Whoever goes back in the history sees what was sought then.
  useEffect(() => setText(inAddress), [inAddress])
  useEffect(() => {
    if (text === inAddress) return
    const timer = setTimeout(() => change({ [name]: text }), restMs)
    return () => clearTimeout(timer)
  }, [text, inAddress, name, change])
  return (
    <input
      className="input search-box"
      type="search"
      aria-label={label}
      placeholder={placeholder ?? label}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  )
}
