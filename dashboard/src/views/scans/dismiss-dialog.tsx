// Why a finding is of no concern, and for how long.
import { useState } from 'react'
import { dismissFinding, type Finding } from '../../../../src/contract/api/scans/findings.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Failure } from '../../parts/states.tsx'
import { say } from '../../parts/toasts.tsx'

type DismissProps = { finding: Finding; onDone: () => void; onUndo: () => void; onClose: () => void }

const dayMs = 86_400_000
const spans = [
  { days: 0, title: 'For good' },
  { days: 30, title: 'For 30 days' },
  { days: 90, title: 'For 90 days' },
]

function endOf(days: number): { until?: string } {
  return days === 0 ? {} : { until: new Date(Date.now() + days * dayMs).toISOString() }
}

export function DismissDialog({ finding, onDone, onUndo, onClose }: DismissProps) {
  const [reason, setReason] = useState('')
  const [days, setDays] = useState(0)
  const dismiss = useChange(dismissFinding, 'Finding')
  const { id, namespace } = finding
  const problem = isSvcError(dismiss.error) ? dismiss.error.details?.find(({ path }) => path === 'reason') : undefined

  function save(): void {
    const input = { params: { id }, query: { namespace }, body: { reason, ...endOf(days) } }
    dismiss.mutate(input, {
      onSuccess: () => {
        say(`${finding.title} is dismissed`, { word: 'Undo', run: onUndo })
        onClose()
        onDone()
      },
    })
  }

  return (
    <Dialog title={`Dismiss “${finding.title}”`} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        {dismiss.error !== null && problem === undefined && <Failure error={dismiss.error} />}
        <Field label="Reason" hint="Others see it with the finding." problem={problem?.message} isRequired>
          {(control) => (
            <textarea
              {...control}
              className="input"
              dir="auto"
              autoFocus
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
        <Field label="How long">
          {(control) => (
            <select
              {...control}
              className="input"
              value={days}
              onChange={(event) => setDays(Number(event.target.value))}
            >
              {spans.map(({ days: value, title }) => (
                <option key={value} value={value}>
                  {title}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div className="dialog-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" busy={dismiss.isPending}>
            Dismiss
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
