// Downloads files that a task left into local folders, never over an existing file.
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import { type ArtifactItem, ArtifactPath } from '../../contract/api/tasks/task-records.ts'
import { getTaskArtifact, listTaskArtifacts } from '../../contract/api/tasks/tasks.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { describeBytes } from '../../lib/bytes.ts'
import { hasCode } from '../../lib/error-code.ts'
import { makeFolder } from '../../lib/new-folder.ts'
import { quoteWord } from '../../lib/shell-words.ts'
import { trimTrailing } from '../../lib/trim.ts'

/** How routes identify a task. */
export type TaskTarget = { params: { id: string }; query: { namespace?: string } }

export async function listFiles(client: Client, target: TaskTarget): Promise<ArtifactItem[]> {
  return (await client.call(listTaskArtifacts, target)).items
}

/** The bytes of one file. */
export async function openFile(client: Client, { params, query }: TaskTarget, path: string): Promise<Readable> {
  const response = await client.open(getTaskArtifact, { params: { ...params, filename: path }, query })
  return response.body ? Readable.fromWeb(response.body) : Readable.from([])
}

/** Where a file of this path goes below `folder`. InvalidRequest for a path that would leave it. */
export function localPathOf(folder: string, path: string): string {
  if (!ArtifactPath.safeParse(path).success) throw new SvcError('InvalidRequest', `${path} is not a file path`)
  return join(folder, path)
}

/** Under any name that a file system may take for `.git`: programs that Git starts are named in there. */
function meansGit(part: string): boolean {
  const name = trimTrailing(part.normalize('NFKC').replace(/\p{Cf}/gu, ''), '. ').split(':')[0] ?? ''
  return /^(\.git|git~\d+)$/i.test(name)
}

/** Whether it would be part of a Git repository, which must not come from a task. */
export function isOfGit(path: string): boolean {
  return path.split('/').some(meansGit)
}

/** Creates the folders that contain it. InvalidRequest when the file exists already. */
export async function writeFile(source: Readable, path: string, signal: AbortSignal): Promise<true> {
  try {
    makeFolder(dirname(path))
    await pipeline(source, createWriteStream(path, { flags: 'wx' }), { signal })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) {
      throw new SvcError('InvalidRequest', `${path} exists already: move it away, or choose another place with --to`)
    }
    // Half a file is worse than none; it belongs to this command, which created it.
    await rm(path, { force: true })
    throw error
  }
}

const maxNamed = 5

/** The line about them after a run, with the command that downloads them; undefined when there are none. */
export function describeFiles({ metadata }: Task, files: ArtifactItem[]): string | undefined {
  const [first] = files
  if (first === undefined) return undefined
  const size = describeBytes(files.reduce((sum, file) => sum + file.size, 0))
  const more = files.length > maxNamed ? `, and ${files.length - maxNamed} more` : ''
  const names = files.slice(0, maxNamed).map(({ filename }) => filename)
  const what = files.length === 1 ? quoteWord(first.filename) : '--all'
  return `files (${size}): ${names.join(', ')}${more}\nfetch them: ${commandHint(`task download ${metadata.name} ${what}`)}`
}
