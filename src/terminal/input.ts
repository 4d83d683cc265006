// Reads the input of commands: files, folders of manifests, standard input.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { NamedText } from '../client/machine.ts'
import { messageOf, SvcError } from '../errors.ts'
import { codeOf } from '../lib/error-code.ts'

const manifestName = /\.(ya?ml|json)$/

/** InvalidRequest when the file cannot be read. */
export async function readTexts(path: string): Promise<NamedText[]> {
  if (path === '-') return [{ name: '-', text: await text(process.stdin) }]
  try {
    const isFolder = (await stat(path)).isDirectory()
    const files = isFolder ? await listManifests(path) : [path]
    return await Promise.all(files.map(async (name) => ({ name, text: await readFile(name, 'utf8') })))
  } catch (error) {
    throw new SvcError('InvalidRequest', `${path} cannot be read: ${describeFileError(error)}`, { cause: error })
  }
}

async function listManifests(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => manifestName.test(name))
  return names.toSorted().map((name) => join(folder, name))
}

/** All of standard input; undefined when it is a terminal, where a person would have to type it. */
export async function readStandardInput(): Promise<string | undefined> {
  return process.stdin.isTTY ? undefined : text(process.stdin)
}

const explanations: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'it may not be read or written by this user',
  EPERM: 'the system does not allow it',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already and is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
}

/** A system error about a file in plain words. */
export function describeFileError(error: unknown): string {
  return explanations[codeOf(error)] ?? messageOf(error)
}
