// Reads the input of commands: files, folders of manifests, standard input.
import { isUtf8 } from 'node:buffer'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { NamedText } from '../client/machine.ts'
import { SvcError } from '../errors.ts'
import { describeFileError } from '../lib/file-error.ts'

const manifestName = /\.(ya?ml|json)$/

/** InvalidRequest when the file cannot be read, or is no text. */
export async function readTexts(path: string): Promise<NamedText[]> {
  if (path === '-') return [{ name: '-', text: await readInput() }]
  const files = await readFiles(path)
  return files.map(({ name, bytes }) => ({ name, text: decodeText(name, bytes) }))
}

/** InvalidRequest when the file cannot be read. */
export async function readBytes(path: string): Promise<Buffer> {
  if (path === '-') return buffer(process.stdin)
  try {
    return await readFile(path)
  } catch (error) {
    throw unreadable(path, error)
  }
}

function unreadable(path: string, cause: unknown): SvcError {
  return new SvcError('InvalidRequest', `${path} cannot be read: ${describeFileError(cause)}`, { cause })
}

async function readFiles(path: string) {
  try {
    const isFolder = (await stat(path)).isDirectory()
    const files = isFolder ? await listManifests(path) : [path]
    return await Promise.all(files.map(async (name) => ({ name, bytes: await readFile(name) })))
  } catch (error) {
    throw unreadable(path, error)
  }
}

async function listManifests(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => manifestName.test(name))
  return names.toSorted().map((name) => join(folder, name))
}

/** Without the mark that some programs begin their output with. */
async function readInput(): Promise<string> {
  const text = decodeText('standard input', await buffer(process.stdin))
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Bytes that are no text would come out as others. */
function decodeText(name: string, bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  throw new SvcError('InvalidRequest', `${name} is not text in UTF-8: save it as such, or encode it, as with base64`)
}

/**
 * All of standard input; undefined when it is a terminal, where a person would have to type it. InvalidRequest when it is
 * no text.
 */
export async function readStandardInput(): Promise<string | undefined> {
  return process.stdin.isTTY ? undefined : readInput()
}
