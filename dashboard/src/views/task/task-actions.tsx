// What can be done with a task.
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { cancelTask, deleteTask, type TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { isOver, type TaskPlace, targetOf } from './place.ts'
import { useRetry } from './use-retry.ts'

type Asked = 'cancel' | 'delete'

export function TaskActions({ task, place }: { task: TaskDetail; place: TaskPlace }) {
  const [asked, setAsked] = useState<Asked>()
  const navigate = useNavigate()
  const retry = useRetry(place)
  // What helps with a failure stands beside its cause.
  const isFailed = task.status?.phase === 'Failed'
  const ends = isOver(task)

  return (
    <>
      {ends && !isFailed && (
        <Button busy={retry.isBusy} onClick={retry.run}>
          Retry
        </Button>
      )}
      {!isFailed && (
        <Button
          onClick={() => void navigate(`/tasks/new?from=${encodeURIComponent(`${place.namespace}/${place.name}`)}`)}
        >
          Clone
        </Button>
      )}
      {!ends && (
        <Button look="danger" onClick={() => setAsked('cancel')}>
          Cancel
        </Button>
      )}
      <Button look="danger" onClick={() => setAsked('delete')}>
        Delete
      </Button>
      {asked === 'cancel' && <CancelQuestion place={place} onClose={() => setAsked(undefined)} />}
      {asked === 'delete' && <DeleteQuestion place={place} onClose={() => setAsked(undefined)} />}
    </>
  )
}

type QuestionProps = { place: TaskPlace; onClose: () => void }

function CancelQuestion({ place, onClose }: QuestionProps) {
  const cancel = useChange(cancelTask)
  const run = () =>
    cancel.mutate(targetOf(place), {
      onSuccess: () => say(`${place.name} is cancelled`),
      onError: sayFailure,
      onSettled: onClose,
    })
  return (
    <Confirm
      title={`Cancel ${place.name}?`}
      action="Cancel the task"
      isBusy={cancel.isPending}
      onConfirm={run}
      onClose={onClose}
    >
      <p>It stops at once, and so do its child tasks. Their logs stay.</p>
    </Confirm>
  )
}

function DeleteQuestion({ place, onClose }: QuestionProps) {
  const remove = useChange(deleteTask)
  const navigate = useNavigate()
  const run = () =>
    remove.mutate(targetOf(place), {
      onSuccess: () => {
        say(`${place.name} is deleted`)
        void navigate('/tasks')
      },
      onError: (error) => {
        sayFailure(error)
        onClose()
      },
    })
  return (
    <Confirm
      title={`Delete ${place.name}?`}
      action="Delete the task"
      isBusy={remove.isPending}
      onConfirm={run}
      onClose={onClose}
    >
      <p>Its log, result, files and child tasks are deleted with it. This cannot be undone.</p>
    </Confirm>
  )
}
