// The creation of a task by any of the forms.
import { useNavigate } from 'react-router'
import { createTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { useChange } from '../../data/records.ts'
import { say } from '../../parts/toasts.tsx'

/** `retryOf`: the task of the same namespace that the new one repeats with changes. */
export function useCreate(retryOf?: string) {
  const navigate = useNavigate()
  const change = useChange(createTask)
  return {
    error: change.error,
    isBusy: change.isPending,
    create: (body: Parameters<typeof change.mutate>[0]['body']) =>
      change.mutate(
        { body, ...(retryOf && { query: { retryOf } }) },
        {
          onSuccess: ({ metadata: { namespace, name }, spec }) => {
            say(spec.schedule === undefined ? `${name} is created` : `${name} is scheduled`)
            void navigate(`/tasks/${namespace}/${name}`)
          },
        },
      ),
  }
}

export type Creating = ReturnType<typeof useCreate>

export type TaskBody = NonNullable<Parameters<Creating['create']>[0]>
