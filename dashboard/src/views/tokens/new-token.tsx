// A new token: what it may do and until when. Its text is shown this once.
import { type FormEvent, useState } from 'react'
import { roles } from '../../../../src/contract/api/identity/access.ts'
import { createToken, type TokenCreated } from '../../../../src/contract/api/identity/tokens.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Dialog, FormEnd } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { TextField } from '../../parts/text-field.tsx'

const can: Record<string, string> = {
  viewer: 'viewer: reads',
  runner: 'runner: reads, and starts tasks',
  editor: 'editor: changes everything but the service itself',
  owner: 'owner: everything, tokens and secrets too',
}

const first = { name: '', role: 'runner', namespace: '', expires: '30d' }

export function NewToken({ onClose }: { onClose: () => void }) {
  const [given, setGiven] = useState(first)
  const create = useChange(createToken, 'Token')
  if (create.data !== undefined) return <Created token={create.data} onClose={onClose} />

  function save(event: FormEvent): void {
    event.preventDefault()
    const known = Object.entries(given).filter(([, value]) => value.trim() !== '')
    create.mutate({ body: Object.fromEntries(known) } as never)
  }

  const text = (name: 'name' | 'namespace' | 'expires', label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      problem={problemOf(create.error, name)}
      isRequired={name === 'name'}
      value={given[name]}
      onText={(text) => setGiven({ ...given, [name]: text })}
    />
  )

  return (
    <Dialog title="New token" onClose={onClose}>
      <form className="stack" onSubmit={save}>
        {create.error !== null && <Failure error={create.error} />}
        {text('name', 'Name', 'Who or what will use it: lower-case letters, digits and "-".')}
        <Field label="Role" problem={problemOf(create.error, 'role')}>
          {(control) => (
            <select
              {...control}
              className="input"
              value={given.role}
              onChange={(event) => setGiven({ ...given, role: event.target.value })}
            >
              {roles.map((role) => (
                <option key={role} value={role}>
                  {can[role]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {text('namespace', 'Namespace', 'The only one that it is good for. Empty: all.')}
        {text('expires', 'Ends', 'After a span (12h, 30d) or at a time (2030-12-31T00:00:00Z). Empty: never.')}
        <FormEnd action="Create" isBusy={create.isPending} onClose={onClose} />
      </form>
    </Dialog>
  )
}

function Created({ token: { name, token }, onClose }: { token: TokenCreated; onClose: () => void }) {
  return (
    <Dialog title={`The token ${name}`} onClose={onClose}>
      <div className="stack">
        <p className="notice">This is the only time that it is shown. Whoever has it can act with it.</p>
        <code className="block" data-token>
          {token}
        </code>
      </div>
      <div className="dialog-end">
        <CopyButton text={token} what="token" />
        <Button look="main" onClick={onClose}>
          I have kept it
        </Button>
      </div>
    </Dialog>
  )
}
