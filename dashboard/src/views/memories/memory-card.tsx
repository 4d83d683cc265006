import { useState } from 'react'
import { deleteMemory, disableMemory, enableMemory, type Memory } from '../../../../src/contract/api/memory/memories.ts'
import { useChange } from '../../data/records.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { count } from '../../parts/count.ts'
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
  const [isEditing, setEditing] = useState(false)
  const { namespace, id, content, disabled } = memory
  const place = { params: { id }, query: { namespace } }
  const disable = useChange(disableMemory, 'Memory')
  const enable = useChange(enableMemory, 'Memory')

  function setDisabled(isDisabled: boolean): void {
    const undo = { word: 'Undo', run: () => setDisabled(!isDisabled) }
    const said = isDisabled ? 'It is not recalled any more' : 'It is recalled again'
    const change = isDisabled ? disable : enable
    change.mutate(place, { onSuccess: () => say(said, undo), onError: sayFailure })
  }

  return (
    <div className="row">
      <Button onClick={() => setEditing(true)}>Edit</Button>
      <Button onClick={() => setDisabled(!disabled)}>{disabled ? 'Enable' : 'Disable'}</Button>
      <AskedChange
        to={deleteMemory}
        input={place}
        sort="Memory"
        word="Delete"
        look="danger"
        title="Delete this memory?"
        action="Delete the memory"
        onDone={() => say('The memory is deleted')}
      >
        <p>
          <Foreign text={content} most={200} />
        </p>
        <p>No task is told of it again, and it cannot be brought back. Disabling it can be undone.</p>
      </AskedChange>
      {isEditing && <MemoryEditor namespace={namespace} memory={memory} onClose={() => setEditing(false)} />}
    </div>
  )
}
