// What became of a task, said first: the cause where it failed, the result where it succeeded.
import { Foreign } from '../../parts/foreign.tsx'
import { later } from '../../parts/later.ts'
import type { OutcomeProps } from './place.ts'
import { readResult } from './result.ts'
import { Result } from './result-tab.tsx'
import { useResult } from './use-result.ts'
import './outcome.css'

const Failed = later(async () => (await import('./failed.tsx')).Failed)

export function Outcome(props: OutcomeProps) {
  const { phase } = props.task.status ?? {}
  if (phase === 'Failed') return <Failed {...props} />
  if (phase === 'Succeeded') return <Succeeded {...props} />
  return <Waiting {...props} />
}

function Succeeded({ task, place }: OutcomeProps) {
  const { text } = useResult({ task, place })
  if (text === undefined || text.trim() === '') return null
  return (
    <div className="outcome stack">
      <h2>Result</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="outcome-result stack" aria-label="Text of the result" tabIndex={0}>
        <Result of={readResult(text)} task={task} place={place} />
      </section>
    </div>
  )
}

function Waiting({ task: { status } }: OutcomeProps) {
  if (!status?.message) return null
  return (
    <p className="soft">
      <Foreign text={status.message} />
    </p>
  )
}
