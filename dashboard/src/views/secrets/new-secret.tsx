import { type FormEvent, useState } from 'react'
import { createSecret } from '../../../../src/contract/api/resources/secrets.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { say } from '../../parts/toasts.tsx'
import { dataOf, newRow, ValueRows } from './value-rows.tsx'

export function NewSecret({ namespace, onClose }: { namespace: string; onClose: () => void }) {
  const [name, setName] = useState('')
  const [hosts, setHosts] = useState('')
  const [rows, setRows] = useState([newRow([], 'api-key')])
  const create = useChange(createSecret, 'Secret')

  function save(event: FormEvent): void {
    event.preventDefault()
    const allowed = hosts.split(/[\s,]+/).filter(Boolean)
    const body = { name, stringData: dataOf(rows), ...(allowed.length > 0 && { allowedHosts: allowed }) }
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
        <Field label="Name" problem={problemOf(create.error, 'name')} isRequired>
          {(control) => (
            <input
              {...control}
              className="input"
              dir="auto"
              autoComplete="off"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <ValueRows rows={rows} problem={problemOf(create.error, 'stringData')} onChange={setRows} />
        <Field
          label="Hosts that it may be sent to"
          hint="With commas between them; * and ? stand for anything. Empty: all hosts."
          problem={problemOf(create.error, 'allowedHosts')}
        >
          {(control) => (
            <input
              {...control}
              className="input"
              dir="auto"
              autoComplete="off"
              value={hosts}
              onChange={(event) => setHosts(event.target.value)}
            />
          )}
        </Field>
        <div className="dialog-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" busy={create.isPending}>
            Create
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
