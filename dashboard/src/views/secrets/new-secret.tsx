import { type FormEvent, useState } from 'react'
import { createSecret } from '../../../../src/contract/api/resources/secrets.ts'
import { useChange } from '../../data/records.ts'
import { Dialog, FormEnd } from '../../parts/dialog.tsx'
import { addRow } from '../../parts/entry-rows.ts'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { say } from '../../parts/toasts.tsx'
import { filledIn, ValueRows } from './value-rows.tsx'

export function NewSecret({ namespace, onClose }: { namespace: string; onClose: () => void }) {
  const [name, setName] = useState('')
  const [hosts, setHosts] = useState('')
  const [rows, setRows] = useState(addRow([], 'api-key'))
  const create = useChange(createSecret, 'Secret')

  function save(event: FormEvent): void {
    event.preventDefault()
    const allowed = hosts.split(/[\s,]+/).filter(Boolean)
    const body = { name, stringData: filledIn(rows), ...(allowed.length > 0 && { allowedHosts: allowed }) }
    const onSuccess = () => {
      say(`The secret ${name} is created`)
      onClose()
    }
    create.mutate({ query: { namespace }, body }, { onSuccess })
  }

  return (
    <Dialog title={`New secret in ${namespace}`} onClose={onClose}>
      <form className="stack" onSubmit={save}>
        {create.error !== null && <Failure error={create.error} />}
        <TextField label="Name" problem={problemOf(create.error, 'name')} isRequired value={name} onText={setName} />
        <ValueRows rows={rows} problem={problemOf(create.error, 'stringData')} onChange={setRows} />
        <TextField
          label="Hosts that it may be sent to"
          hint="With commas between them; * and ? stand for anything. Empty: all hosts."
          problem={problemOf(create.error, 'allowedHosts')}
          value={hosts}
          onText={setHosts}
        />
        <FormEnd action="Create" isBusy={create.isPending} onClose={onClose} />
      </form>
    </Dialog>
  )
}
