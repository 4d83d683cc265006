// What can be done about a finding in the state it is in, each with its key.
import { useState } from 'react'
import type { CallInput } from '../../../../src/client/client.ts'
import type { Route } from '../../../../src/contract/api/resources/route.ts'
import {
  createFindingPullRequest,
  type Finding,
  patchFinding,
  reopenFinding,
  validateFinding,
} from '../../../../src/contract/api/scans/findings.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { useKeys } from '../../parts/keys.ts'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { useMay } from '../../session/caller.ts'
import { DismissDialog } from './dismiss-dialog.tsx'
import { isSettled } from './finding-order.ts'

type ActionsProps = { finding: Finding; onDecided: () => void }

/** Calls a route for one finding and says what came of it. */
export function useFindingCall<R extends Route>(route: R, { id, namespace }: Finding, done: string) {
  const call = useChange(route, 'Finding')
  const run = () =>
    call.mutate({ params: { id }, query: { namespace } } as unknown as CallInput<R>, {
      onSuccess: () => say(done),
      onError: sayFailure,
    })
  return { run, isBusy: call.isPending }
}

/** Which keys do something now. */
function allowed(finding: Finding) {
  const isOpen = !isSettled(finding)
  return {
    d: isOpen,
    v: isOpen && finding.validationStatus !== 'pending',
    f: finding.state === 'open' || finding.state === 'patch_ready',
    p: finding.state === 'patch_ready',
    r: !isOpen,
  }
}

export function FindingActions({ finding, onDecided }: ActionsProps) {
  const [isDismissing, setDismissing] = useState(false)
  const check = useFindingCall(validateFinding, finding, 'The finding is being checked')
  const patch = useFindingCall(patchFinding, finding, 'A fix is being written')
  const pull = useFindingCall(createFindingPullRequest, finding, 'The pull request is open')
  const reopen = useFindingCall(reopenFinding, finding, 'The finding is open again')
  const may = allowed(finding)
  const actions = [
    { key: 'd', word: 'Dismiss…', run: () => setDismissing(true), isBusy: false },
    { key: 'v', word: 'Check', ...check },
    { key: 'f', word: 'Fix', ...patch },
    { key: 'p', word: 'Open pull request', ...pull },
    { key: 'r', word: 'Reopen', ...reopen },
  ] as const
  const mayDecide = useMay(reopenFinding)
  const open = actions.filter(({ key }) => mayDecide && may[key])
  useKeys(Object.fromEntries(open.filter(({ isBusy }) => !isBusy).map(({ key, run }) => [key, run])))
  return (
    <div className="row">
      {open.map(({ key, word, run, isBusy }) => (
        <Button key={key} busy={isBusy} aria-keyshortcuts={key} onClick={run}>
          {word} <kbd>{key}</kbd>
        </Button>
      ))}
      {isDismissing && (
        <DismissDialog finding={finding} onDone={onDecided} onUndo={reopen.run} onClose={() => setDismissing(false)} />
      )}
    </div>
  )
}
