// Several findings dismissed at once, for one reason.
import { useState } from 'react'
import { dismissFinding, type Finding } from '../../../../src/contract/api/scans/findings.ts'
import { api, queryClient } from '../../data/api.ts'
import { BulkQuestion } from '../../parts/bulk-question.tsx'
import { Button } from '../../parts/button.tsx'
import { ChosenBar } from '../../parts/chosen-bar.tsx'
import { count } from '../../parts/count.ts'
import { bodyOfDismissal, DismissFields } from './dismiss-fields.tsx'
import { isSettled } from './finding-order.ts'

const describe = (number: number) => count(number, 'finding')

type ChosenProps = { findings: readonly Finding[]; onChooseAll: () => void; onDone: () => void }

export function ChosenFindings({ findings, onChooseAll, onDone }: ChosenProps) {
  const [isAsking, setAsking] = useState(false)
  const open = findings.filter((finding) => !isSettled(finding))
  const close = () => setAsking(false)
  function finish(): void {
    close()
    onDone()
    void queryClient.invalidateQueries({ queryKey: ['records', 'Finding'] })
  }
  return (
    <>
      {findings.length > 0 && (
        <ChosenBar noun="finding" chosen={findings.length} onChooseAll={onChooseAll} onChooseNone={onDone}>
          <Button disabled={open.length === 0} onClick={() => setAsking(true)}>
            Dismiss {open.length}…
          </Button>
        </ChosenBar>
      )}
      {isAsking && <DismissMany findings={open} onClose={close} onDone={finish} />}
    </>
  )
}

type DismissProps = { findings: readonly Finding[]; onClose: () => void; onDone: () => void }

function DismissMany({ findings, onClose, onDone }: DismissProps) {
  const [dismissal, setDismissal] = useState({ reason: '', days: 0 })
  const dismiss = ({ id, namespace }: Finding) =>
    api().call(dismissFinding, { params: { id }, query: { namespace }, body: bodyOfDismissal(dismissal) })
  return (
    <BulkQuestion
      items={findings}
      nameOf={({ title }) => title}
      call={dismiss}
      word="Dismiss"
      done="dismissed"
      describe={describe}
      look="main"
      isReady={dismissal.reason.trim() !== ''}
      onClose={onClose}
      onDone={onDone}
    >
      <DismissFields value={dismissal} onChange={setDismissal} />
    </BulkQuestion>
  )
}
