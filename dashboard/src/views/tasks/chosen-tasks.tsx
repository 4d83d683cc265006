// What can be done with several tasks at once.
import { useState } from 'react'
import { cancelTask, deleteTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { terminalPhases } from '../../../../src/contract/kinds/tasks/task.ts'
import { messageOf } from '../../../../src/errors.ts'
import { api } from '../../data/api.ts'
import { namespaceOf } from '../../data/summary.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import type { TaskRow } from '../../parts/task-columns.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'
import './chosen-tasks.css'

const isOver = ({ status }: TaskRow) => terminalPhases.some((phase) => phase === status?.phase)
const count = (tasks: readonly unknown[]) => (tasks.length === 1 ? '1 task' : `${tasks.length} tasks`)

const works = {
  cancel: { word: 'Cancel', done: 'cancelled', route: cancelTask, warning: 'They stop at once. Their logs stay.' },
  delete: {
    word: 'Delete',
    done: 'deleted',
    route: deleteTask,
    warning: 'Logs, results, files and child tasks go with them. This cannot be undone.',
  },
} as const
type Work = keyof typeof works

/** At most so many calls at a time. */
const atOnce = 6

/** Does it to each; what was refused is told, and the others are done. */
async function doAll(work: Work, tasks: readonly TaskRow[]): Promise<void> {
  const { route, done } = works[work]
  const client = api()
  const left = [...tasks]
  const failures: string[] = []
  async function next(): Promise<void> {
    for (let task = left.shift(); task !== undefined; task = left.shift()) {
      const { name } = task.metadata
      const input = { params: { id: name }, query: { namespace: namespaceOf(task) } }
      await client
        .call(route as typeof deleteTask, input)
        .catch((error) => void failures.push(`${name}: ${messageOf(error)}`))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, next))
  const succeeded = tasks.length - failures.length
  if (succeeded > 0) say(`${succeeded === 1 ? '1 task is' : `${succeeded} tasks are`} ${done}`)
  if (failures.length > 0) {
    sayFailure(new Error(`${failures.length} not ${done}: ${failures.slice(0, 3).join('; ')}`))
  }
}

type ChosenTasksProps = { tasks: readonly TaskRow[]; onChooseAll: () => void; onDone: () => void }

export function ChosenTasks({ tasks, onChooseAll, onDone }: ChosenTasksProps) {
  const [asked, setAsked] = useState<Work>()
  const running = tasks.filter((task) => !isOver(task))
  return (
    <section className="row card chosen-bar" aria-label="Chosen tasks">
      <span role="status">{count(tasks)} chosen</span>
      <Button onClick={onChooseAll}>Choose all shown</Button>
      <Button onClick={onDone}>Choose none</Button>
      <span className="grow" />
      <Button look="danger" disabled={running.length === 0} onClick={() => setAsked('cancel')}>
        Cancel {running.length}
      </Button>
      <Button look="danger" onClick={() => setAsked('delete')}>
        Delete {tasks.length}
      </Button>
      {asked !== undefined && (
        <Question
          work={asked}
          tasks={asked === 'cancel' ? running : tasks}
          onClose={() => setAsked(undefined)}
          onDone={onDone}
        />
      )}
    </section>
  )
}

type QuestionProps = { work: Work; tasks: readonly TaskRow[]; onClose: () => void; onDone: () => void }
const mostNamed = 8

function Question({ work, tasks, onClose, onDone }: QuestionProps) {
  const [isBusy, setBusy] = useState(false)
  const { word, warning } = works[work]
  async function run(): Promise<void> {
    setBusy(true)
    await doAll(work, tasks)
    onDone()
  }
  return (
    <Confirm
      title={`${word} ${count(tasks)}?`}
      action={`${word} ${count(tasks)}`}
      isBusy={isBusy}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <ul>
        {tasks.slice(0, mostNamed).map(({ metadata }) => (
          <li key={metadata.uid}>
            <Foreign text={metadata.name} />
          </li>
        ))}
      </ul>
      {tasks.length > mostNamed && <p>and {tasks.length - mostNamed} more</p>}
      <p>{warning}</p>
    </Confirm>
  )
}
