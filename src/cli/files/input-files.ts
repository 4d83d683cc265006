// Gives a task local files: creates it suspended, uploads them, and starts it.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, isAbsolute, join, sep } from 'node:path'
import type { Client } from '../../client/client.ts'
import { inputLimits } from '../../contract/api/tasks/internal.ts'
import { deleteTask, putTaskInput } from '../../contract/api/tasks/tasks.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { describeBytes } from '../../lib/bytes.ts'
import { describeFileError } from '../../lib/file-error.ts'
import { relativeInside } from '../../lib/folder-path.ts'
import type { CliContext } from '../context.ts'
import { targetOfTask } from '../follow/follow.ts'
import { digestOf, type FolderFile, listFolder } from './folder-files.ts'

export type InputFiles = {
  /** Path in the workspace to local path. */
  sources: Map<string, string>
  bytes: number
  /** For people. */
  leftOut: string[]
}

export type FileOptions = { here?: boolean; file?: string[] }

/** Undefined when there is nothing to give. InvalidRequest for files that cannot be given. */
export async function findFiles({ here, file = [] }: FileOptions, folder: string): Promise<InputFiles | undefined> {
  if (!here && file.length === 0) return undefined
  const listing = here ? await listFolder(folder) : { files: [], leftOut: [] }
  const inputs: InputFiles = { sources: new Map(), bytes: 0, leftOut: listing.leftOut }
  for (const { path, size } of listing.files) add(inputs, { path, size }, join(folder, path))
  for (const source of file) await addNamed(inputs, source, folder)
  return inputs
}

function add(inputs: InputFiles, { path, size }: FolderFile, source: string): void {
  if (!inputs.sources.has(path)) inputs.bytes += size
  inputs.sources.set(path, source)
}

/** By its path when it is inside the folder, otherwise by its name alone. */
async function addNamed(inputs: InputFiles, source: string, folder: string): Promise<void> {
  const found = await stat(source).catch((error: unknown) => {
    throw new SvcError('InvalidRequest', `${source} cannot be read: ${describeFileError(error)}`, { cause: error })
  })
  if (found.isDirectory())
    throw new SvcError(
      'InvalidRequest',
      `${source} is a folder: name its files, or use --here in it, which gives those that Git would commit`,
    )
  if (!found.isFile()) throw new SvcError('InvalidRequest', `${source} is not a plain file`)
  if (found.size > inputLimits.fileBytes) {
    throw new SvcError('InvalidRequest', `${source} is larger than ${describeBytes(inputLimits.fileBytes)}`)
  }
  const inside = relativeInside(folder, join(isAbsolute(source) ? '' : folder, source))
  add(inputs, { path: inside ? inside.split(sep).join('/') : basename(source), size: found.size }, source)
}

/** What is sent, and what is left out. */
export function describeInputs({ sources, bytes, leftOut }: InputFiles): string {
  const taken = `giving the task ${sources.size === 1 ? '1 file' : `${sources.size} files`} (${describeBytes(bytes)})`
  return leftOut.length === 0
    ? taken
    : `${taken}; left out: ${leftOut.slice(0, maxNamed).join(', ')}${andMore(leftOut)}`
}

const maxNamed = 8

function andMore({ length }: string[]): string {
  return length > maxNamed ? `, and ${length - maxNamed} more` : ''
}

/** Concurrent uploads. */
const lanes = 8

/** Uploads them all; returns the digest of each. If an upload fails, the task is deleted. */
export async function sendFiles(
  client: Client,
  task: Task,
  { sources }: InputFiles,
  { context }: { context: CliContext },
): Promise<Map<string, string>> {
  const digests = new Map<string, string>()
  const waiting = [...sources]
  const target = targetOfTask(task)
  const send = async (signal: AbortSignal) => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [path, source] = next
      const raw = { body: createReadStream(source), contentType: 'application/octet-stream' }
      const params = { ...target.params, filename: path }
      digests.set(path, (await digestOf(source)) ?? '')
      await client.call(putTaskInput, { params, query: target.query, raw, signal })
    }
    return true
  }
  const remove = () => client.call(deleteTask, target)
  try {
    const isDone = await context.interruptible((signal) =>
      Promise.all(Array.from({ length: lanes }, () => send(signal))),
    )
    if (isDone) return digests
  } catch (error) {
    await remove()
    throw error
  }
  await remove()
  throw new SvcError('ClientClosed', 'cancelled before the task had its files')
}
