import { useState } from 'react'
import { deleteMemory, disableMemory, enableMemory, type Memory } from '../../../../src/contract/api/memory/memories.ts'
import { useChange } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { count } from '../../parts/count.ts'
import { Confirm } from '../../parts/dialog.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { Provenance } from '../../parts/provenance.tsx'
import { Ago } from '../../parts/time.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'
import { MemoryEditor } from './memory-editor.tsx'

export function MemoryCard({ memory }: { memory: Memory }) {
  const { content, tags = [], disabled, supersededBy, recalledCount, lastRecalledAt } = memory
  return (
    <article className="card memory stack" aria-label={content.slice(0, 80)}>
      <div className="memory-text">
        <Markdown label="Memory" text={content} />
      </div>
      <div className="row">
        {disabled && <Badge tone="warn">Disabled</Badge>}
        {supersededBy !== undefined && <Badge>Replaced by a newer one</Badge>}
        {tags.map((tag) => (
          <span key={tag} className="badge">
            <Foreign text={tag} />
          </span>
        ))}
        <span className="soft">
          {recalledCount === 0 ? 'Never recalled' : `Recalled ${count(recalledCount, 'time')}, last `}
          {recalledCount > 0 && <Ago at={lastRecalledAt} />}
        </span>
      </div>
      <details>
        <summary className="soft">Where it comes from</summary>
        <Provenance of={memory} />
      </details>
      <Offered to={deleteMemory}>
        <Actions memory={memory} />
      </Offered>
    </article>
  )
}

function Actions({ memory }: { memory: Memory }) {
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const { namespace, id, content, disabled } = memory
  const place = { params: { id }, query: { namespace } }
  const disable = useChange(disableMemory, 'Memory')
  const enable = useChange(enableMemory, 'Memory')
  const remove = useChange(deleteMemory, 'Memory')

  function setDisabled(isDisabled: boolean): void {
    const undo = { word: 'Undo', run: () => setDisabled(!isDisabled) }
    const said = isDisabled ? 'It is not recalled any more' : 'It is recalled again'
    const change = isDisabled ? disable : enable
    change.mutate(place, { onSuccess: () => say(said, undo), onError: sayFailure })
  }

  function removeIt(): void {
    const onSettled = () => setOpen(undefined)
    remove.mutate(place, { onSuccess: () => say('The memory is deleted'), onError: sayFailure, onSettled })
  }

  return (
    <div className="row">
      <Button onClick={() => setOpen('edit')}>Edit</Button>
      <Button onClick={() => setDisabled(!disabled)}>{disabled ? 'Enable' : 'Disable'}</Button>
      <Button look="danger" onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'edit' && <MemoryEditor namespace={namespace} memory={memory} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <Confirm
          title="Delete this memory?"
          action="Delete the memory"
          isBusy={remove.isPending}
          onConfirm={removeIt}
          onClose={() => setOpen(undefined)}
        >
          <p>
            <Foreign text={content} most={200} />
          </p>
          <p>No task is told of it again, and it cannot be brought back. Disabling it can be undone.</p>
        </Confirm>
      )}
    </div>
  )
}
