import { type FormEvent, useState } from 'react'
import { type SessionItem, updateSession } from '../../../../src/contract/api/chat/sessions.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, FormEnd } from '../../parts/dialog.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { TextField } from '../../parts/text-field.tsx'

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
        <TextField
          label="Title"
          hint={`Its name, ${name}, stays.`}
          problem={problemOf(update.error, 'title')}
          spellCheck
          value={title}
          onText={setTitle}
        />
        <FormEnd action="Rename" isBusy={update.isPending} onClose={onClose} />
      </form>
    </Dialog>
  )
}
