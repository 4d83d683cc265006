// A finding is dismissed, with a reason.
import { useState } from 'react'
import { dismissFinding, type Finding } from '../../../../src/contract/api/scans/findings.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useChange } from '../../data/records.ts'
import { Dialog, FormEnd } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/states.tsx'
import { say } from '../../parts/toasts.tsx'
import { bodyOfDismissal, DismissFields } from './dismiss-fields.tsx'

type DismissProps = { finding: Finding; onDone: () => void; onUndo: () => void; onClose: () => void }

export function DismissDialog({ finding, onDone, onUndo, onClose }: DismissProps) {
  const [dismissal, setDismissal] = useState({ reason: '', days: 0 })
  const dismiss = useChange(dismissFinding, 'Finding')
  const { id, namespace } = finding
  const problem = isSvcError(dismiss.error) ? dismiss.error.details?.find(({ path }) => path === 'reason') : undefined

  function save(): void {
    const input = { params: { id }, query: { namespace }, body: bodyOfDismissal(dismissal) }
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
        <DismissFields value={dismissal} problem={problem?.message} onChange={setDismissal} />
        <FormEnd action="Dismiss" isBusy={dismiss.isPending} onClose={onClose} />
      </form>
    </Dialog>
  )
}
