// What is done with a whole scan: run it, and take out what it found.
import { useState } from 'react'
import { startScanRun } from '../../../../src/contract/api/scans/routes.ts'
import { exportFindings } from '../../../../src/contract/api/scans/sarif-routes.ts'
import { api } from '../../data/api.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'

export type Place = { namespace: string; name: string }

/** `failedOnly`: the parts alone that failed in the last run. */
export function RunButton({ namespace, name, failedOnly = false }: Place & { failedOnly?: boolean }) {
  const start = useChange(startScanRun, 'Scan')
  const run = () =>
    start.mutate(
      { params: { name }, query: { namespace }, body: failedOnly ? { retryFailed: true } : {} },
      { onSuccess: () => say(`A run of ${name} has begun`), onError: sayFailure },
    )
  return (
    <Offered to={startScanRun}>
      <Button look={failedOnly ? undefined : 'main'} busy={start.isPending} onClick={run}>
        {failedOnly ? 'Review the failed parts again' : 'Run now'}
      </Button>
    </Offered>
  )
}

export function ExportButton({ namespace, name }: Place) {
  const [isBusy, setBusy] = useState(false)
  async function save(): Promise<void> {
    setBusy(true)
    try {
      const answer = await api().open(exportFindings, { params: { name }, query: { namespace } })
      saveFile(`${name}.sarif`, await answer.blob())
    } catch (error) {
      sayFailure(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button busy={isBusy} title="All that is not fixed, for code hosts and editors" onClick={() => void save()}>
      Export SARIF
    </Button>
  )
}
