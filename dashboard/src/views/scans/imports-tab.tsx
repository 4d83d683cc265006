// Findings of other scanners: taken in as SARIF, and what came of each file.
import { useId } from 'react'
import { importFindings, listScanImports, sarifType } from '../../../../src/contract/api/scans/sarif-routes.ts'
import { useChange, useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { say } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'
import type { Place } from './scan-actions.tsx'

const tones = { pending: 'busy', succeeded: 'good', failed: 'bad' } as const

export function ImportsTab({ namespace, name }: Place) {
  const imports = useRecordPages('Scan', listScanImports, { params: { name }, query: { namespace } })
  return (
    <div className="stack">
      <Offered to={importFindings}>
        <ImportForm namespace={namespace} name={name} />
      </Offered>
      {imports.error !== null && <Failure error={imports.error} retry={imports.reload} />}
      {imports.isLoading && <Loading what="the imports" />}
      <ol className="stack">
        {imports.items.map((one) => (
          <li key={one.id} className="card">
            <div className="row">
              <Badge tone={tones[one.phase]}>{one.phase}</Badge>
              <Foreign text={one.tools.join(', ')} />
              <Ago at={one.createdAt} />
              <span className="soft">
                by <Foreign text={one.createdBy} />
              </span>
            </div>
            <p>
              {one.resultCount} results: {one.newFindings} new findings of {one.acceptedFindings} kept,{' '}
              {one.droppedFindings} dropped, {one.duplicateResults ?? 0} the same as another, {one.skippedResults}{' '}
              skipped, {one.fixedFindings} fixed
            </p>
            {one.errorMessage !== undefined && <Foreign className="problem" text={one.errorMessage} />}
          </li>
        ))}
      </ol>
      {imports.hasMore && <Button onClick={imports.loadMore}>Older</Button>}
    </div>
  )
}

function ImportForm({ namespace, name }: Place) {
  const take = useChange(importFindings, 'Scan', 'Finding')
  const id = useId()
  async function send(file: File | undefined): Promise<void> {
    if (file === undefined) return
    const raw = { body: new Uint8Array(await file.arrayBuffer()), contentType: sarifType }
    take.mutate({ params: { name }, query: { namespace }, raw }, { onSuccess: () => say(`${file.name} is being read`) })
  }
  return (
    <div className="card stack">
      <label htmlFor={id}>Take in what another scanner found (SARIF 2.1.0, up to 32 MiB)</label>
      <input
        id={id}
        type="file"
        accept=".sarif,.json,application/sarif+json"
        disabled={take.isPending}
        onChange={(event) => {
          void send(event.target.files?.[0])
          event.target.value = ''
        }}
      />
      {take.error !== null && <Failure error={take.error} />}
    </div>
  )
}
