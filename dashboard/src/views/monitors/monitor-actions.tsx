// What is done with a monitor: run it now, of one pull request or all; post a review that it made; let it rest and go on.
import { useState } from 'react'
import {
  createMonitorRun,
  publishMonitorReview,
  updateMonitor,
} from '../../../../src/contract/api/monitors/monitors.ts'
import { useChange } from '../../data/records.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { Button } from '../../parts/button.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'
import type { StoredObject } from '../objects/object-kinds.ts'
import { saveObject } from '../objects/save.ts'

export type Place = { namespace: string; name: string }

/** `number`: only this pull request is looked at. */
export function RunButton({ namespace, name, number }: Place & { number?: number }) {
  const start = useChange(createMonitorRun, 'Monitor')
  const body = number === undefined ? {} : ({ targetKind: 'pull_request', targetNumber: number } as const)
  const run = () =>
    start.mutate(
      { params: { name }, query: { namespace }, body },
      {
        onSuccess: () =>
          say(number === undefined ? `A run of ${name} is queued` : `A review of pull request ${number} is queued`),
        onError: sayFailure,
      },
    )
  return (
    <Offered to={createMonitorRun}>
      <Button look={number === undefined ? 'main' : undefined} busy={start.isPending} onClick={run}>
        {number === undefined ? 'Run now' : 'Review now'}
      </Button>
    </Offered>
  )
}

/** Posts the review that the pull request has, also of a monitor that posts none by itself. */
export function PostButton({ namespace, name, number }: Place & { number: number }) {
  return (
    <AskedChange
      to={publishMonitorReview}
      input={{ params: { name, number: String(number) }, query: { namespace } }}
      sort="Monitor"
      word="Post review"
      title={`Post the review of pull request ${number}?`}
      action="Post the review"
      decline="Do not post"
      onDone={() => say(`The review of pull request ${number} is being posted`)}
    >
      <p>Everybody who sees the pull request can read it. “Reviews” shows what it says.</p>
    </AskedChange>
  )
}

export function SuspendButton({ monitor }: { monitor: StoredObject }) {
  const [isBusy, setBusy] = useState(false)
  const isSuspended = monitor.spec.suspend === true

  async function set(suspend: boolean, before: StoredObject): Promise<void> {
    setBusy(true)
    try {
      const saved = await saveObject(
        'monitors',
        { metadata: before.metadata, spec: { ...before.spec, suspend } },
        before,
      )
      const words = suspend ? 'is suspended and starts no runs' : 'goes on'
      say(`${before.metadata.name} ${words}`, { word: 'Undo', run: () => void set(!suspend, saved) })
    } catch (error) {
      sayFailure(error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <Offered to={updateMonitor}>
      <Button busy={isBusy} onClick={() => void set(!isSuspended, monitor)}>
        {isSuspended ? 'Go on' : 'Suspend'}
      </Button>
    </Offered>
  )
}
