// Uploads what the run left: the files in /workspace/artifacts, then what else it wrote in its workspace (TASK-059,
// TASK-060).
import type { WorkAssignment } from '../contract/api/tasks/assignment.ts'
import { type WorkspaceChanges, workspaceChangesName } from '../contract/api/tasks/internal.ts'
import { contentTypeOf } from '../contract/values/content-type.ts'
import { isSvcError, messageOf } from '../errors.ts'
import type { LeftFile, ReadLeftFiles, ReadWorkspaceFiles } from '../ports/tasks/workloads.ts'
import { type ArtifactUpload, isSuperseded, type WorkerApi } from './api.ts'
import { rejectedAnswerName } from './outcome.ts'
import type { WrittenInputs } from './workspace-files.ts'

const folderName = 'artifacts'
/** How many skipped files are named; the rest are only counted. */
const maxNamed = 20

export type LeftWorkspace = {
  workspaceRoot: string
  readLeftFiles: ReadLeftFiles
  readWorkspaceFiles: ReadWorkspaceFiles
}

type Files = AsyncIterable<LeftFile>
type Keep = NonNullable<WorkAssignment['keep']>

type Upload = {
  api: Pick<WorkerApi, 'uploadArtifact'>
  /** Absent: only the artifact folder. */
  keep?: Keep | undefined
  /** Present: the task was given files, and unchanged ones are not kept. All others are kept by path. */
  inputs?: WrittenInputs | undefined
  /** Receives what was uploaded, and what was skipped and why. */
  note: (line: string) => void
}

/** Uploads every suitable file by its path. */
export async function uploadArtifacts(left: LeftWorkspace, { api, keep, inputs, note }: Upload): Promise<void> {
  const refusals = createRefusals(note)
  const names = new Set<string>()

  async function upload(files: Files, fail: (name: string, error: unknown) => void): Promise<void> {
    for await (const file of files) {
      const { name } = file
      if ('skipped' in file) refusals.add(name, file.skipped)
      else await uploadOne(name, file).catch((error: unknown) => fail(name, error))
    }
  }

  async function uploadOne(name: string, { size, open }: { size: number; open: ArtifactUpload['open'] }) {
    await api.uploadArtifact({ filename: name, contentType: contentTypeOf(name), open })
    names.add(name)
    note(`[artifact ${JSON.stringify(name)} uploaded, ${size} bytes]`)
  }

  const all = keep && left.readWorkspaceFiles(left.workspaceRoot)
  if (all && inputs) {
    await upload(boundFiles(listChanged(all, inputs), keep), refusals.addFailure)
    await uploadChanges(api, { removed: await inputs.listRemoved() })
  } else {
    await upload(left.readLeftFiles(left.workspaceRoot, folderName), (_name, error) => {
      throw error
    })
    if (all) await upload(boundFiles(listOthers(all, names), keep), refusals.addFailure)
  }
  refusals.end()
}

/** Files outside the artifact folder; skips names that are already taken. */
async function* listOthers(files: Files, taken: ReadonlySet<string>): AsyncGenerator<LeftFile> {
  for await (const file of files) {
    const { name } = file
    if (name.startsWith(`${folderName}/`)) continue
    yield taken.has(name) ? { name, skipped: `a file of that name lies in ${folderName}/` } : file
  }
}

/** Files that differ from what was given. */
async function* listChanged(files: Files, inputs: WrittenInputs): AsyncGenerator<LeftFile> {
  for await (const file of files) if ('skipped' in file || !(await inputs.isUnchanged(file))) yield file
}

async function* boundFiles(files: Files, keep: Keep): AsyncGenerator<LeftFile> {
  const findProblem = createBound(keep)
  for await (const file of files) {
    const problem = 'skipped' in file ? undefined : findProblem(file.size)
    yield problem === undefined ? file : { name: file.name, skipped: problem }
  }
}

/** What the artifacts do not show: removed files. */
async function uploadChanges(api: Upload['api'], changes: WorkspaceChanges): Promise<void> {
  if (changes.removed.length === 0) return
  const upload = { filename: workspaceChangesName, contentType: 'application/json' }
  await api.uploadArtifact({ ...upload, open: () => readText(JSON.stringify(changes)) })
}

/** An answer that was not accepted. A file that the run gave this name replaces it. */
export async function uploadRejected(api: Upload['api'], answer: string): Promise<void> {
  const upload = { filename: rejectedAnswerName, contentType: 'text/plain; charset=utf-8' }
  await api.uploadArtifact({ ...upload, open: () => readText(answer) })
}

async function* readText(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** Why a file of this size is too much, after those before it. */
function createBound({ files, bytes }: Keep): (size: number) => string | undefined {
  let uploaded = 0
  let left = bytes
  return (size) => {
    if (uploaded >= files) return `more than ${files} files of a workspace are not kept (--keep-files)`
    if (size > left) return `all files together would be larger than ${bytes} bytes (--keep-size)`
    uploaded += 1
    left -= size
    return undefined
  }
}

function createRefusals(note: (line: string) => void) {
  let count = 0
  const add = (name: string, why: string) => {
    count += 1
    if (count <= maxNamed) note(`[artifact ${JSON.stringify(name)} is left out: ${why}]`)
  }
  return {
    add,
    /** A file that cannot be stored does not fail a run that has done its work. */
    addFailure(name: string, error: unknown): void {
      // Each of the others would wait as long for the service as this one did.
      if (isSuperseded(error) || isSvcError(error, 'Unavailable')) throw error
      add(name, messageOf(error))
    },
    end(): void {
      if (count > maxNamed) note(`[${count - maxNamed} more files are left out]`)
    },
  }
}
