// What agents and people want to be remembered: found by words, changed, taken out of recall, deleted.
import { useState } from 'react'
import { createMemory, listMemories, type Memory } from '../../../../src/contract/api/memory/memories.ts'
import { useRecord } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope, useScopedPath } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Offered } from '../../session/offered.tsx'
import { MemoryCard } from './memory-card.tsx'
import { MemoryEditor } from './memory-editor.tsx'
import './memories.css'

const most = 200

const sources = { manual: 'Written by hand', memory_proposal: 'From a proposal' }
const filters = ['q', 'source', 'agent', 'task', 'tags', 'disabled']

function useMemories() {
  const { home } = useScope()
  const [parameters] = useParameters()
  const read = (name: string) => parameters.get(name) ?? undefined
  const query = {
    namespace: home,
    query: read('q'),
    source: read('source'),
    agentName: read('agent'),
    taskName: read('task'),
    tags: read('tags'),
    includeDisabled: read('disabled') === 'shown',
    limit: most,
  }
  return useRecord('Memory', listMemories, { query } as never)
}

export default function MemoryListPage() {
  const scoped = useScopedPath()
  const { home } = useScope()
  const [isMaking, setMaking] = useState(false)
  const memories = useMemories()
  const items: Memory[] = memories.data?.items ?? []
  const actions = (
    <>
      <LinkButton to={scoped('/proposals')}>Proposals to review</LinkButton>
      <Offered to={createMemory}>
        <Button look="main" onClick={() => setMaking(true)}>
          New memory
        </Button>
      </Offered>
    </>
  )
  return (
    <Page title="Memories" actions={actions}>
      <div className="row">
        <SearchBox label="Search in memories" />
        <SearchBox label="Tags, with commas" name="tags" />
        <SearchBox label="Agent" name="agent" />
        <Choice name="source" label="How" values={['manual', 'memory_proposal']} words={sources} />
        <Choice
          name="disabled"
          label="Disabled ones"
          values={['shown']}
          words={{ shown: 'With disabled ones' }}
          none="Without disabled ones"
        />
      </div>
      <p className="soft">
        In the namespace <Foreign text={home} />.
      </p>
      {memories.data?.notice !== undefined && <p className="notice">{memories.data.notice}</p>}
      {memories.error !== null && <Failure error={memories.error} retry={() => void memories.refetch()} />}
      {memories.isLoading && <Loading what="memories" />}
      {memories.data !== undefined && items.length === 0 && <NoMemories />}
      <ul className="memories">
        {items.map((memory) => (
          <li key={memory.id}>
            <MemoryCard memory={memory} />
          </li>
        ))}
      </ul>
      {items.length === most && (
        <p className="soft">The {most} that were changed last are shown. Words find the others.</p>
      )}
      {isMaking && <MemoryEditor namespace={home} onClose={() => setMaking(false)} />}
    </Page>
  )
}

function NoMemories() {
  const [parameters] = useParameters()
  if (filters.some((name) => parameters.has(name))) {
    return (
      <Empty title="No memory matches">
        <p>Take a filter away, or search for other words.</p>
      </Empty>
    )
  }
  return (
    <Empty title="Nothing is remembered yet">
      <p>
        Agents propose what they have learned; what you accept is told to later tasks. You can also write a memory
        yourself.
      </p>
    </Empty>
  )
}
