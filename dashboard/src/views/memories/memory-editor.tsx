// What is to be remembered, written or changed.
import { type FormEvent, useState } from 'react'
import { createMemory, type Memory, updateMemory } from '../../../../src/contract/api/memory/memories.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure } from '../../parts/states.tsx'
import { TextArea } from '../../parts/text-area.tsx'
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
        <Field label="Tags" hint="Words to filter by, with commas between them." problem={problemOf(error, 'tags')}>
          {(control) => (
            <input
              {...control}
              className="input"
              dir="auto"
              value={tags}
              onChange={(event) => setTags(event.target.value)}
            />
          )}
        </Field>
        <div className="dialog-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="main" busy={create.isPending || update.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
