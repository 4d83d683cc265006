// file_read: a part of a text file of the workspace (BUILT-007, BUILT-008, BUILT-026).
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { z } from 'zod'
import { SvcError } from '../../errors.ts'
import { defineTool } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { explainFileError } from './file-error.ts'
import { openFolder } from './folder.ts'
import { locateFile } from './location.ts'
import { trimPartialCharacters } from './text-window.ts'

const largestRead = 1_048_576
const standardRead = 65_536

export const fileRead = defineTool({
  name: 'file_read',
  description: 'Reads a text file in /workspace. When truncated, go on at next_offset.',
  parameters: z.strictObject({
    path: z.string().min(1),
    offset: z.int().min(0).default(0).describe('First byte'),
    limit: z.int().min(1).max(largestRead).default(standardRead).describe('Most bytes'),
  }),
  repeatable: true,
  ownsOutputLimit: true,
  async run({ path, offset, limit }, context) {
    const { bytes, size, shown } = await readWindow({ root: context.workspaceRoot, path, offset, limit })
    if (bytes.includes(0)) return failBinary(shown, size)
    const window = trimPartialCharacters(bytes, { startsInside: offset > 0, endsInside: offset + bytes.length < size })
    const start = offset + window.skipped
    const end = start + window.bytes.length
    return {
      success: true,
      path: shown,
      content: window.bytes.toString('utf8'),
      size,
      offset: start,
      truncated: end < size,
      ...(end < size ? { next_offset: end } : {}),
    }
  },
})

type ReadRequest = { root: string; path: string; offset: number; limit: number }

async function readWindow(request: ReadRequest): Promise<{ bytes: Buffer; size: number; shown: string }> {
  const location = await locateFile(request.root, request.path)
  try {
    const handle = await openFile(location.root, location.parts)
    try {
      return { ...(await readRegular(handle, request)), shown: location.shown }
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw explainFileError(error, request.path)
  }
}

async function openFile(root: string, parts: string[]): Promise<FileHandle> {
  const folder = await openFolder(root, parts.slice(0, -1), false)
  try {
    // O_NONBLOCK: a FIFO without a writer must not hang the tool.
    return await open(
      folder.pathOf(parts.at(-1) ?? ''),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    )
  } finally {
    await folder.close()
  }
}

async function readRegular(handle: FileHandle, { path, offset, limit }: ReadRequest) {
  const stat = await handle.stat()
  if (stat.isDirectory()) throw new SvcError('InvalidRequest', `"${path}" is a folder, not a file`)
  if (!stat.isFile()) throw new SvcError('InvalidRequest', `"${path}" is not a regular file`)
  const buffer = Buffer.alloc(Math.max(0, Math.min(limit, stat.size - offset)))
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset)
  return { bytes: buffer.subarray(0, bytesRead), size: stat.size }
}

function failBinary(path: string, size: number) {
  return failTool(
    'invalid_arguments',
    `${path} (${size} bytes) is not text: it contains NUL bytes`,
    'Look at it with code_exec, for instance with a library that knows its format.',
  )
}
