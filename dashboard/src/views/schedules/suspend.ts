// Suspends and resumes a schedule.
import { useMutation } from '@tanstack/react-query'
import { getTask, updateTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { api } from '../../data/api.ts'
import { say, sayFailure } from '../../parts/toasts.tsx'

type Wanted = { namespace: string; name: string; suspend: boolean }

/** Conflict when somebody else changes it in between. */
async function setSuspend({ namespace, name, suspend }: Wanted): Promise<void> {
  const at = { params: { id: name }, query: { namespace } }
  const client = api()
  const { metadata, spec } = await client.call(getTask, at)
  const { requestedBy: _by, transaction: _transaction, ...wanted } = spec
  const { uid, resourceVersion } = metadata
  await client.call(updateTask, { ...at, body: { metadata: { uid, resourceVersion }, spec: { ...wanted, suspend } } })
}

export function useSuspend() {
  const change = useMutation({ mutationFn: setSuspend, networkMode: 'always', onError: sayFailure })
  return {
    isPending: change.isPending,
    mutate: (wanted: Wanted) =>
      change.mutate(wanted, {
        onSuccess: () =>
          say(`${wanted.name} is ${wanted.suspend ? 'suspended' : 'resumed'}`, {
            word: 'Undo',
            run: () => change.mutate({ ...wanted, suspend: !wanted.suspend }),
          }),
      }),
  }
}
