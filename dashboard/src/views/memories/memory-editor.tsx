// What is to be remembered, written or changed.
import { type FormEvent, useState } from 'react'
import { createMemory, type Memory, updateMemory } from '../../../../src/contract/api/memory/memories.ts'
import { useChange } from '../../data/records.ts'
import { Dialog, FormEnd } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { TextArea } from '../../parts/text-area.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { say } from '../../parts/toasts.tsx'

type EditorProps = { namespace: string; memory?: Memory; onClose: () => void }

export function MemoryEditor({ namespace, memory, onClose }: EditorProps) {
  const [content, setContent] = useState(memory?.content ?? '')
  const [tags, setTags] = useState((memory?.tags ?? []).join(', '))
  const create = useChange(createMemory, 'Memory')
  const update = useChange(updateMemory, 'Memory')
  const error = create.error ?? update.error

  function save(event: FormEvent): void {
    event.preventDefault()
    const body = { content, tags: tags.split(',') }
    const query = { namespace }
    const onSuccess = () => {
      say(memory === undefined ? 'It is remembered' : 'The memory is changed')
      onClose()
    }
    if (memory === undefined) create.mutate({ query, body }, { onSuccess })
    else update.mutate({ params: { id: memory.id }, query, body }, { onSuccess })
  }

  return (
    <Dialog title={memory === undefined ? 'New memory' : 'Change the memory'} onClose={onClose} isWide>
      <form className="stack" onSubmit={save}>
        {error !== null && <Failure error={error} />}
        <Field label="What is to be remembered" problem={problemOf(error, 'content')} isRequired>
          {(control) => <TextArea {...control} rows={8} value={content} onText={setContent} />}
        </Field>
        <TextField
          label="Tags"
          hint="Words to filter by, with commas between them."
          problem={problemOf(error, 'tags')}
          value={tags}
          onText={setTags}
        />
        <FormEnd action="Save" isBusy={create.isPending || update.isPending} onClose={onClose} />
      </form>
    </Dialog>
  )
}
