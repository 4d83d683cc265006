// Files of tasks, read with the credential of this session.
import { useQuery } from '@tanstack/react-query'
import { getTaskArtifact } from '../../../src/contract/api/tasks/tasks.ts'
import { api } from './api.ts'

type TaskKey = { namespace: string; name: string }

export async function readArtifact({ namespace, name }: TaskKey, filename: string): Promise<Blob> {
  const response = await api().open(getTaskArtifact, { params: { id: name, filename }, query: { namespace } })
  return response.blob()
}

/** A file as text; what has no name is not read. */
export function useArtifactText(task: TaskKey, filename: string | undefined) {
  return useQuery({
    queryKey: ['object', 'Task', task.namespace, task.name, 'artifact', filename],
    queryFn: async () => (await readArtifact(task, filename ?? '')).text(),
    enabled: filename !== undefined,
  })
}
