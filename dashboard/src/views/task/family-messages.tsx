// What the tasks of a family told each other, below each task that made some.
import { listTaskMessages } from '../../../../src/contract/api/tasks/tasks.ts'
import { useRecordPages } from '../../data/records.ts'
import { namespaceOf } from '../../data/summary.ts'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Failure } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { targetOf } from './place.ts'
import type { FamilyPlace, FamilyTask } from './use-family.ts'

/** Those with tasks below them: the next place of a walk through the tree lies deeper. */
function listParents(places: readonly FamilyPlace[]): FamilyTask[] {
  return places.flatMap(({ task, level }, at) => ((places[at + 1]?.level ?? 0) > level ? [task] : []))
}

export function FamilyMessages({ places }: { places: readonly FamilyPlace[] }) {
  return listParents(places).map((task) => <MessagesBelow key={task.metadata.uid} task={task} />)
}

const everybody = '*'

function MessagesBelow({ task }: { task: FamilyTask }) {
  const { name } = task.metadata
  const messages = useRecordPages('Message', listTaskMessages, targetOf({ namespace: namespaceOf(task), name }))
  if (messages.error !== null) return <Failure error={messages.error} retry={messages.reload} />
  if (messages.items.length === 0) return null
  return (
    <section className="stack" aria-label={`Messages below ${name}`}>
      <h2>
        Messages below <Foreign text={name} />
      </h2>
      <ol className="family-messages">
        {messages.items.map(({ id, fromTask, toTask, content, createdAt }) => (
          <li key={id} className="card">
            <p className="row">
              <strong>
                <Foreign text={fromTask} />
              </strong>
              <span>to {toTask === everybody ? 'all' : <Foreign text={toTask} />}</span>
              <span className="soft">
                <Ago at={createdAt} />
              </span>
            </p>
            <Foreign className="prose" text={content} most={20_000} />
          </li>
        ))}
      </ol>
      {messages.hasMore && (
        <div>
          <Button onClick={messages.loadMore}>Show older ones</Button>
        </div>
      )}
    </section>
  )
}
