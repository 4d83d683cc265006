// What can be done with several tasks at once.
import { useState } from 'react'
import { cancelTask, deleteTask, retryTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { terminalPhases } from '../../../../src/contract/kinds/tasks/task.ts'
import { api } from '../../data/api.ts'
import { namespaceOf } from '../../data/summary.ts'
import { BulkQuestion } from '../../parts/bulk-question.tsx'
import { Button } from '../../parts/button.tsx'
import { ChosenBar } from '../../parts/chosen-bar.tsx'
import { comparePath } from '../../parts/compare-path.ts'
import { count } from '../../parts/count.ts'
import { LinkButton } from '../../parts/link-button.tsx'
import type { TaskRow } from '../../parts/task-columns.tsx'
import { Offered } from '../../session/offered.tsx'

const isOver = ({ status }: TaskRow) => terminalPhases.some((phase) => phase === status?.phase)
const describe = (number: number) => count(number, 'task')

const works = [
  {
    word: 'Retry',
    done: 'retried',
    route: retryTask,
    look: 'main',
    isFor: isOver,
    warning: 'Each is made again as a new task. Those that have ended stay as they are.',
  },
  {
    word: 'Cancel',
    done: 'cancelled',
    route: cancelTask,
    look: 'danger',
    isFor: (task: TaskRow) => !isOver(task),
    warning: 'They stop at once. Their logs stay.',
  },
  {
    word: 'Delete',
    done: 'deleted',
    route: deleteTask,
    look: 'danger',
    isFor: () => true,
    warning: 'Logs, results, files and child tasks go with them. This cannot be undone.',
  },
] as const
type Work = (typeof works)[number]

function start({ route }: Work, task: TaskRow): Promise<unknown> {
  const input = { params: { id: task.metadata.name }, query: { namespace: namespaceOf(task) } }
  return api().call(route as typeof deleteTask, input)
}

type ChosenTasksProps = { tasks: readonly TaskRow[]; onChooseAll: () => void; onDone: () => void }

export function ChosenTasks({ tasks, onChooseAll, onDone }: ChosenTasksProps) {
  const [asked, setAsked] = useState<Work>()
  const close = () => setAsked(undefined)
  return (
    <>
      {tasks.length > 0 && <Bar tasks={tasks} onAsk={setAsked} onChooseAll={onChooseAll} onDone={onDone} />}
      {asked !== undefined && (
        <BulkQuestion
          word={asked.word}
          done={asked.done}
          look={asked.look}
          items={tasks.filter(asked.isFor)}
          nameOf={({ metadata }) => metadata.name}
          call={(task) => start(asked, task)}
          describe={describe}
          onClose={close}
          onDone={() => {
            close()
            onDone()
          }}
        >
          <p>{asked.warning}</p>
        </BulkQuestion>
      )}
    </>
  )
}

/** Times of creation are whole seconds; ids rise within one. */
const ageKeyOf = ({ metadata }: TaskRow) => `${metadata.creationTimestamp} ${metadata.uid}`

function Bar({ tasks, onAsk, onChooseAll, onDone }: ChosenTasksProps & { onAsk: (work: Work) => void }) {
  const byAge = tasks.toSorted((a, b) => ageKeyOf(a).localeCompare(ageKeyOf(b)))
  const [earlier, later] = byAge
  return (
    <ChosenBar
      noun="task"
      chosen={tasks.length}
      onChooseAll={onChooseAll}
      onChooseNone={onDone}
      beside={
        earlier !== undefined &&
        later !== undefined &&
        tasks.length === 2 && <LinkButton to={comparePath(earlier, later)}>Compare</LinkButton>
      }
    >
      {works.map((work) => {
        const { length } = tasks.filter(work.isFor)
        return (
          <Offered key={work.word} to={work.route}>
            <Button
              look={work.look === 'danger' ? 'danger' : undefined}
              disabled={length === 0}
              onClick={() => onAsk(work)}
            >
              {work.word} {length}
            </Button>
          </Offered>
        )
      })}
    </ChosenBar>
  )
}
