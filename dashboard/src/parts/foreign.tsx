// Text of others, shown as text.
import { useState } from 'react'
import { shorten, visible } from './visible-text.ts'
import './foreign.css'

type ForeignProps = { text: string | undefined; most?: number; className?: string }

/** Within a line. */
export function Foreign({ text = '', most = 2000, className = '' }: ForeignProps) {
  const shown = shorten(visible(text), most)
  return (
    <bdi dir="auto" className={`foreign ${className}`} title={shown.length < text.length ? undefined : shown}>
      {shown}
    </bdi>
  )
}

const mostAtOnce = 200_000

/** A block of its own; what is very long is shown in part until asked for. */
export function ForeignBlock({ text, label }: { text: string; label: string }) {
  const [most, setMost] = useState(mostAtOnce)
  return (
    <div className="stack">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="block" aria-label={label} tabIndex={0}>
        <pre className="foreign" dir="auto">
          {shorten(visible(text.slice(0, most)), most)}
        </pre>
      </section>
      {text.length > most && (
        <button type="button" className="button" onClick={() => setMost(most + mostAtOnce)}>
          Show more ({Math.round((text.length - most) / 1000)} kB)
        </button>
      )}
    </div>
  )
}
