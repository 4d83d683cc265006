// How many rows of a list are chosen, and what can be done with them.
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { count } from './count.ts'
import './chosen-bar.css'

type ChosenBarProps = {
  /** `task`. */
  noun: string
  chosen: number
  onChooseAll: () => void
  onChooseNone: () => void
  /** What only looks at them; it stands beside the choice. */
  beside?: ReactNode
  children: ReactNode
}

export function ChosenBar({ noun, chosen, onChooseAll, onChooseNone, beside, children }: ChosenBarProps) {
  return (
    <section className="row card chosen-bar" aria-label={`Chosen ${noun}s`}>
      <span role="status">{count(chosen, noun)} chosen</span>
      <Button onClick={onChooseAll}>Choose all shown</Button>
      <Button onClick={onChooseNone}>Choose none</Button>
      {beside}
      <span className="grow" />
      {children}
    </section>
  )
}
