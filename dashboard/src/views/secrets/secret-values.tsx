// New values for entries of a secret; those that are left empty stay as they are.
import { type FormEvent, useState } from 'react'
import { type SecretItem, updateSecret } from '../../../../src/contract/api/resources/secrets.ts'
import { useChange } from '../../data/records.ts'
import { Dialog, FormEnd } from '../../parts/dialog.tsx'
import { rowsOf } from '../../parts/entry-rows.ts'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { say } from '../../parts/toasts.tsx'
import { filledIn, ValueRows } from './value-rows.tsx'

export function SecretValues({ secret, onClose }: { secret: SecretItem; onClose: () => void }) {
  const [rows, setRows] = useState(() => rowsOf(Object.fromEntries(secret.keys.map((key) => [key, '']))))
  const [removed, setRemoved] = useState<string[]>([])
  const update = useChange(updateSecret, 'Secret')
  const { namespace, name, keys } = secret

  function save(event: FormEvent): void {
    event.preventDefault()
    const onSuccess = () => {
      say(`The secret ${name} is changed`)
      onClose()
    }
    const body = { stringData: filledIn(rows.filter(({ key }) => !removed.includes(key))), remove: removed }
    update.mutate({ params: { name }, query: { namespace }, body }, { onSuccess })
  }

  return (
    <Dialog title={`Values of ${name}`} onClose={onClose}>
      <form className="stack" onSubmit={save}>
        {update.error !== null && <Failure error={update.error} />}
        <p className="soft">What is left empty keeps its value.</p>
        <ValueRows rows={rows} problem={problemOf(update.error, 'stringData')} onChange={setRows} />
        {keys.length > 1 && (
          <fieldset className="stack remove-entries">
            <legend>Remove entries</legend>
            {keys.map((key) => (
              <label key={key} className="row">
                <input
                  type="checkbox"
                  checked={removed.includes(key)}
                  onChange={({ target }) =>
                    setRemoved(target.checked ? [...removed, key] : removed.filter((one) => one !== key))
                  }
                />
                <code>{key}</code>
              </label>
            ))}
          </fieldset>
        )}
        <FormEnd action="Replace" isBusy={update.isPending} onClose={onClose} />
      </form>
    </Dialog>
  )
}
