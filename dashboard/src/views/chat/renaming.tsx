import { type FormEvent, useState } from 'react'
import { type SessionItem, updateSession } from '../../../../src/contract/api/chat/sessions.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'

export function Renaming({ session }: { session: SessionItem }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button look="plain" onClick={() => setOpen(true)}>
        Rename
      </Button>
      {isOpen && <RenameDialog session={session} onClose={() => setOpen(false)} />}
    </>
  )
}

function RenameDialog({ session, onClose }: { session: SessionItem; onClose: () => void }) {
  const { namespace, name } = session
  const [title, setTitle] = useState(session.title ?? '')
  const update = useChange(updateSession, 'Session')
  function save(event: FormEvent): void {
    event.preventDefault()
    update.mutate({ params: { id: name }, query: { namespace }, body: { title } }, { onSuccess: onClose })
  }
  return (
    <Dialog title="Rename the conversation" onClose={onClose}>
      <form className="stack" onSubmit={save}>
        {update.error !== null && <Failure error={update.error} />}
        <Field label="Title" hint={`Its name, ${name}, stays.`} problem={problemOf(update.error, 'title')}>
          {(control) => (
            <input
              {...control}
              className="input"
              dir="auto"
              value={title}
              onChange={(event) => setTitle(event.target.value)}
            />
          )}
        </Field>
        <div className="dialog-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" busy={update.isPending}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
