// Something that is worth remembering, proposed by a person, for somebody else to decide.
import { type FormEvent, useState } from 'react'
import { createMemoryProposal } from '../../../../src/contract/api/memory/memory-proposals.ts'
import { useChange } from '../../data/records.ts'
import { Dialog, FormEnd } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { TextArea } from '../../parts/text-area.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { say } from '../../parts/toasts.tsx'

export function NewProposal({ namespace, onClose }: { namespace: string; onClose: () => void }) {
  const [title, setTitle] = useState('')
  const [content, setContent] = useState('')
  const [description, setDescription] = useState('')
  const { error, isPending, mutate } = useChange(createMemoryProposal, 'MemoryProposal')
  function save(event: FormEvent): void {
    event.preventDefault()
    const body = { type: 'memory', title, content, ...(description.trim() !== '' && { description }) }
    const onSuccess = () => {
      say(`Proposed: ${title}`)
      onClose()
    }
    mutate({ query: { namespace }, body }, { onSuccess })
  }
  return (
    <Dialog title="New proposal" onClose={onClose} isWide>
      <form className="stack" onSubmit={save}>
        {error !== null && <Failure error={error} />}
        <TextField
          label="Title"
          problem={problemOf(error, 'title')}
          isRequired
          spellCheck
          value={title}
          onText={setTitle}
        />
        <Field label="What is to be remembered" problem={problemOf(error, 'content')} isRequired>
          {(control) => <TextArea {...control} rows={6} value={content} onText={setContent} />}
        </Field>
        <Field label="Why" hint="Whoever decides reads it." problem={problemOf(error, 'description')}>
          {(control) => <TextArea {...control} rows={3} value={description} onText={setDescription} />}
        </Field>
        <FormEnd
          action="Propose"
          isBusy={isPending}
          isReady={title.trim() !== '' && content.trim() !== ''}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}
