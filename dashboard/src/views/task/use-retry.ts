// The same again, as a new task, whose page is opened.
import { useNavigate } from 'react-router'
import { retryTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { useChange } from '../../data/records.ts'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { type TaskPlace, targetOf, taskPath } from './place.ts'

export function useRetry(place: TaskPlace): { isBusy: boolean; run: () => void } {
  const navigate = useNavigate()
  const retry = useChange(retryTask)
  const run = () =>
    retry.mutate(targetOf(place), {
      onSuccess: ({ metadata }) => {
        say(`${metadata.name} does the same again`)
        void navigate(taskPath({ namespace: metadata.namespace, name: metadata.name }))
      },
      onError: sayFailure,
    })
  return { isBusy: retry.isPending, run }
}
