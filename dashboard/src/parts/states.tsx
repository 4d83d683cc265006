// What stands where there is nothing yet, nothing at all, or something that went wrong.
import type { ReactNode } from 'react'
import { isSvcError, messageOf } from '../../../src/errors.ts'
import { Button } from './button.tsx'
import { Foreign } from './foreign.tsx'
import './states.css'

/** `title` says what is missing, the content what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <strong>{title}</strong>
      {children}
    </div>
  )
}

const advice: Record<string, string> = {
  Forbidden: 'Ask whoever runs this service for the right, or sign in as somebody else.',
  NotFound: 'It may have been deleted, or the address may be misspelt.',
  Unavailable: 'The service may be starting again. What you see comes back by itself when it does.',
  TooManyRequests: 'Wait a moment and try again.',
}

/** What happened, every problem that was found, and what helps. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const message = messageOf(error)
  const details = isSvcError(error) ? (error.details ?? []) : []
  // The message names a single problem itself.
  const problems = details.length === 1 && message.includes(details[0]?.message ?? '') ? [] : details
  const help = isSvcError(error) ? advice[error.reason] : undefined
  return (
    <div className="failure" role="alert">
      <strong>
        <Foreign text={message} />
      </strong>
      {problems.length > 0 && (
        <ul>
          {problems.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path !== '' && <code>{path}</code>} <Foreign text={message} />
            </li>
          ))}
        </ul>
      )}
      {help !== undefined && <p>{help}</p>}
      {retry !== undefined && (
        <div>
          <Button onClick={retry}>Try again</Button>
        </div>
      )}
    </div>
  )
}

const widths = ['60%', '85%', '45%', '70%', '55%']

export function Loading({ what }: { what: string }) {
  return (
    <div className="stack" role="status" aria-label={`Loading ${what}`}>
      {widths.map((width) => (
        <div key={width} className="skeleton" style={{ width }} />
      ))}
    </div>
  )
}
