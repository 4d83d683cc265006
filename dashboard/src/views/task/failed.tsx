// Why a task failed, and what helps.
import { useNavigate } from 'react-router'
import { sendChat } from '../../../../src/contract/api/chat/chat.ts'
import { createTask, getTaskLogs, retryTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { useObjectRecord } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { describeFailure } from '../../parts/failure-words.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { visible } from '../../parts/visible-text.ts'
import { Offered } from '../../session/offered.tsx'
import type { OutcomeProps } from './place.ts'
import { questionAbout } from './question.ts'
import { useRetry } from './use-retry.ts'

/** Lines of the log that are shown of a task that failed. */
const lastLines = 20

export function Failed({ task, place, steps }: OutcomeProps) {
  const { message, failureReason } = task.status ?? {}
  const log = useObjectRecord('Task', getTaskLogs, place, { query: { tailLines: lastLines } })
  const lines = (log.data?.logs ?? '').trimEnd()
  return (
    <section className="outcome" data-tone="bad" aria-labelledby="outcome">
      <header>
        <div className="grow">
          <h2 id="outcome">{describeFailure(failureReason)}</h2>
          <p>
            <Foreign text={message} />
          </p>
        </div>
        <FailedActions task={task} place={place} steps={steps} log={lines} />
      </header>
      {lines !== '' && <LastLines text={lines} />}
    </section>
  )
}

/** Of a line of megabytes its beginning says enough. */
const longestLine = 1000

function LastLines({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="outcome-lines" aria-label="Last lines of the log" tabIndex={0}>
      {text.split('\n').map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their number
        <div key={at}>
          <bdi dir="auto" className="foreign">
            {visible(line.slice(0, longestLine))}
            {line.length > longestLine && '…'}
          </bdi>
        </div>
      ))}
    </section>
  )
}

function FailedActions({ task, place, steps, log }: OutcomeProps & { log: string }) {
  const navigate = useNavigate()
  const retry = useRetry(place)
  return (
    <div className="row">
      <Offered to={retryTask}>
        <Button look="main" busy={retry.isBusy} onClick={retry.run}>
          Retry
        </Button>
      </Offered>
      <Offered to={createTask}>
        <Button
          onClick={() =>
            void navigate(`/tasks/new?retry=true&from=${encodeURIComponent(`${place.namespace}/${place.name}`)}`)
          }
        >
          Edit and retry
        </Button>
      </Offered>
      <Offered to={sendChat}>
        <Button onClick={() => void navigate('/chat', { state: { ask: questionAbout({ task, steps, log }) } })}>
          Ask why
        </Button>
      </Offered>
    </div>
  )
}
