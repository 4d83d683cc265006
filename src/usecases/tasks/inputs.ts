// Files that a task is given before it starts.
import type { Readable } from 'node:stream'
import { inputLimits } from '../../contract/api/tasks/internal.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { ArtifactInfo } from '../../ports/tasks/outputs.ts'
import { requireAccess } from '../identity/access.ts'
import { requireActingInTask } from '../resources/admission/acting.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import { repeatOnConflict } from '../resources/write-conflict.ts'
import type { UsecaseDeps } from '../service/deps.ts'

/** Files that a task is given are stored under attempt 0. */
const ofNoAttempt = 0

export type TaskInputs = {
  /** Conflict once the task has started; InvalidRequest when the task cannot be given files; TooLarge. */
  putInput(
    caller: Caller,
    key: ResourceKey,
    file: { filename: string; contentType: string; body: Readable },
  ): Promise<void>
  inputs(caller: Caller, key: ResourceKey): Promise<ArtifactInfo[]>
}

function refuseUnfit({ metadata: { name }, spec, status }: Task): void {
  if (spec.type === 'container')
    throw new SvcError('InvalidRequest', 'only a task of type ai or agent can be given files')
  if (spec.schedule !== undefined) throw new SvcError('InvalidRequest', 'a schedule cannot be given files')
  if ((status?.attempts ?? 0) === 0 && (status?.phase ?? 'Pending') === 'Pending') return
  throw new SvcError(
    'Conflict',
    `task "${name}" has started and takes no more files: create it with spec.suspend, and resume it when all files are there`,
  )
}

export function createTaskInputs(deps: UsecaseDeps, resources: ResourceUsecases): TaskInputs {
  const { ports } = deps
  const { inputs } = ports.records
  return {
    async putInput(caller, key, file) {
      await requireAccess(ports, caller, { verb: 'update', kind: 'Task', ...key })
      const task = await resources.get(caller, 'Task', key)
      await requireActingInTask(caller, task, deps)
      refuseUnfit(task)
      const { uid } = task.metadata
      const others = (await inputs.list(uid)).filter(({ filename }) => filename !== file.filename)
      if (others.length >= inputLimits.files) {
        throw new SvcError('TooLarge', `a task can be given at most ${inputLimits.files} files`)
      }
      await inputs.put({ taskUid: uid, attempt: ofNoAttempt }, file)
    },
    async inputs(caller, key) {
      return inputs.list((await resources.get(caller, 'Task', key)).metadata.uid)
    },
  }
}

/** Creates a task with `create`, and copies another task's input files to it before it starts. */
export async function createWithInputs(
  ports: Pick<Ports, 'records' | 'resources'>,
  from: Task,
  create: (suspend: boolean) => Promise<Task>,
): Promise<Task> {
  const { inputs } = ports.records
  const files = await inputs.list(from.metadata.uid)
  const suspend = from.spec.suspend === true
  const made = await create(suspend || files.length > 0)
  if (files.length === 0) return made
  for (const { filename, contentType } of files) {
    const found = await inputs.open(from.metadata.uid, filename)
    const body = found?.open()
    if (body) await inputs.put({ taskUid: made.metadata.uid, attempt: ofNoAttempt }, { filename, contentType, body })
  }
  if (suspend) return made
  return repeatOnConflict(async () => {
    const task = await ports.resources.get('Task', made.metadata)
    if (task === undefined) return made
    return ports.resources.update('Task', { ...task, spec: { ...task.spec, suspend } })
  })
}
