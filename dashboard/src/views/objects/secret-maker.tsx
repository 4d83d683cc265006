// Makes a secret where a form needs one. Its value is sent once and never shown again.
import { type KeyboardEvent, useState } from 'react'
import { createSecret } from '../../../../src/contract/api/resources/secrets.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Failure } from '../../parts/states.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { say } from '../../parts/toasts.tsx'

type Made = { name: string; key?: string }
type SecretMakerProps = {
  namespace: string
  /** Whether the reference names an entry of the secret. */
  hasKey: boolean
  onMade: (made: Made) => void
}

export function SecretMaker(props: SecretMakerProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="row">
      <Button className="small" onClick={() => setOpen(true)}>
        Create secret…
      </Button>
      {isOpen && <SecretDialog {...props} onClose={() => setOpen(false)} />}
    </div>
  )
}

function SecretDialog({ namespace, hasKey, onMade, onClose }: SecretMakerProps & { onClose: () => void }) {
  const [given, setGiven] = useState({ name: '', key: 'api-key', value: '' })
  const create = useChange(createSecret, 'Secret')
  const { name, key, value } = given
  const problemOf = (field: string) =>
    isSvcError(create.error) ? create.error.details?.find(({ path }) => path.startsWith(field))?.message : undefined

  function save(): void {
    const body = { name, namespace, stringData: { [key]: value } }
    create.mutate({ query: { namespace }, body }, { onSuccess: () => done() })
  }

  function done(): void {
    say(`The secret ${name} is created`)
    onMade(hasKey ? { name, key } : { name })
    onClose()
  }

  // The form around this dialog is not meant.
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return
    event.preventDefault()
    save()
  }

  const inputs = [
    {
      field: 'name',
      label: 'Name of the secret',
      hint: 'Lower-case letters, digits and "-".',
      path: 'name',
      type: 'text',
    },
    { field: 'key', label: 'Name of the entry', hint: undefined, path: 'none', type: 'text' },
    {
      field: 'value',
      label: 'Value',
      hint: 'It is stored by the service and never shown again.',
      path: 'stringData',
      type: 'password',
    },
  ] as const
  return (
    <Dialog title="Create secret" onClose={onClose}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: hears the Enter key of the inputs in it */}
      <div className="stack" onKeyDown={onKeyDown}>
        {create.error !== null && <Failure error={create.error} />}
        {inputs.map(({ field, label, hint, path, type }) => (
          <TextField
            key={field}
            label={label}
            hint={hint}
            problem={problemOf(path)}
            isRequired
            type={type}
            value={given[field]}
            onText={(text) => setGiven({ ...given, [field]: text })}
          />
        ))}
      </div>
      <div className="dialog-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="main" busy={create.isPending} onClick={save}>
          Create
        </Button>
      </div>
    </Dialog>
  )
}
