// How the last turn of this tab goes, or went: at work, stopped, failed and what helps, or what it took.
import { Link } from 'react-router'
import type { ChatUsage } from '../../../../src/contract/api/chat/chat.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useScopedPath } from '../../parts/scope.ts'
import { Failure } from '../../parts/states.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import type { Turns } from './turns.ts'

export function TurnEnd({ turns }: { turns: Turns }) {
  if (turns.isRunning) return <Working turns={turns} />
  return (
    <>
      {turns.isStopped && <p className="soft">You stopped this answer. What came is kept.</p>}
      {turns.error !== undefined && <TurnFailure error={turns.error} />}
      {turns.usage !== undefined && turns.error === undefined && <Spent usage={turns.usage} />}
    </>
  )
}

function Working({ turns: { answering } }: { turns: Turns }) {
  return (
    <p className="soft working" role="status">
      {answering === undefined ? 'Asking' : `${answering.provider} · ${answering.model} is at work`}
      <span className="dots" aria-hidden="true" />
    </p>
  )
}

const advice: Record<string, string> = {
  UpstreamFailed:
    'The vendor of the model did not answer as it should. Try again, or choose another provider or model below.',
  Overloaded: 'The vendor has too much to do. Wait a moment, or choose another provider below.',
  TooManyRequests: 'Wait a moment and try again.',
  BudgetExceeded: 'A budget is used up. Whoever runs this service can raise it.',
  NotConfigured: 'Set up a provider, with its key, then ask again.',
}

function TurnFailure({ error }: { error: unknown }) {
  const scoped = useScopedPath()
  const help = isSvcError(error) ? advice[error.reason] : undefined
  const isAboutProviders = isSvcError(error) && (error.status >= 500 || /provider/i.test(error.message))
  return (
    <div className="stack">
      <Failure error={error} />
      {help !== undefined && <p>{help}</p>}
      {isAboutProviders && (
        <p>
          <Link className="text-link" to={scoped('/providers')}>
            See the providers
          </Link>
        </p>
      )}
    </div>
  )
}

function Spent({ usage }: { usage: ChatUsage }) {
  const { duration, inputTokens, outputTokens, toolCalls, costs = {}, unpricedCalls = 0 } = usage
  const money = Object.entries(costs).map(([currency, amount]) => `${amount.toFixed(4)} ${currency}`)
  const parts = [
    duration,
    `${formatCount(inputTokens)} + ${formatCount(outputTokens)} tokens`,
    ...(toolCalls > 0 ? [`${toolCalls} tool call${toolCalls === 1 ? '' : 's'}`] : []),
    ...money,
    ...(unpricedCalls > 0 ? ['without prices for all calls'] : []),
  ]
  return <p className="soft number spent">{parts.join(' · ')}</p>
}
