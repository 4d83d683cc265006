// Uploads what the run left in /workspace/artifacts (TASK-059, TASK-060).
import { contentTypeOf } from '../contract/content-type.ts'
import type { ReadLeftFiles } from '../ports/left-files.ts'
import type { WorkerApi } from './api.ts'

const folderName = 'artifacts'

export type LeftArtifacts = { workspaceRoot: string; readLeftFiles: ReadLeftFiles }

/** Uploads every fit file by name; `note` is told what was and what was left out, and why. */
export async function uploadArtifacts(
  { workspaceRoot, readLeftFiles }: LeftArtifacts,
  api: Pick<WorkerApi, 'uploadArtifact'>,
  note: (line: string) => void,
): Promise<void> {
  for await (const file of readLeftFiles(workspaceRoot, folderName)) {
    const { name } = file
    if ('skipped' in file) {
      note(`[artifact ${JSON.stringify(name)} is left out: ${file.skipped}]`)
      continue
    }
    await api.uploadArtifact({ filename: name, contentType: contentTypeOf(name), open: file.open })
    note(`[artifact ${JSON.stringify(name)} uploaded, ${file.size} bytes]`)
  }
}
