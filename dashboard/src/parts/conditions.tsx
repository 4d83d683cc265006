// Conditions of an object, as Kubernetes has them.
import { Badge, type Tone } from './badge.tsx'
import { Foreign } from './foreign.tsx'
import { Ago } from './time.tsx'

export type ConditionItem = {
  type: string
  status: string
  reason: string
  message: string
  lastTransitionTime: string
}

/** A condition that warns is good while it is False. */
function toneOf(type: string, status: string): Tone {
  if (status !== 'True' && status !== 'False') return 'warn'
  if (type.endsWith('Warning')) return status === 'True' ? 'warn' : 'good'
  return status === 'True' ? 'good' : 'bad'
}

export function Conditions({ of }: { of: readonly ConditionItem[] | undefined }) {
  if (of === undefined || of.length === 0) return <p className="soft">The service has not looked at it yet.</p>
  return (
    <ul className="stack">
      {of.map(({ type, status, reason, message, lastTransitionTime }) => (
        <li key={type}>
          <span className="row">
            <Badge tone={toneOf(type, status)}>{`${type}: ${status}`}</Badge> <Foreign text={reason} />
            <span className="soft">
              <Ago at={lastTransitionTime} />
            </span>
          </span>
          <Foreign text={message} />
        </li>
      ))}
    </ul>
  )
}
