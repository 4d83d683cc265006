// file_read reads a part of a text file of the workspace (BUILT-007, BUILT-008, BUILT-026). file_write replaces a file as a whole,
// or appends to it (BUILT-012..014, BUILT-026).
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, rename, unlink } from 'node:fs/promises'
import { z } from 'zod'
import { SvcError } from '../../errors.ts'
import { hasCode } from '../../lib/error-code.ts'
import { trimPartialCharacters } from '../../lib/utf8.ts'
import { defineTool } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { explainFileError, locateFile, openWorkspaceFolder, type WorkspaceFolder } from './workspace-file.ts'

const maxReadBytes = 1_048_576
const defaultReadBytes = 65_536

export const fileRead = defineTool({
  name: 'file_read',
  description: 'Reads a text file in /workspace. When truncated, go on at next_offset.',
  parameters: z.strictObject({
    path: z.string().min(1),
    offset: z.int().min(0).default(0).describe('First byte'),
    limit: z.int().min(1).max(maxReadBytes).default(defaultReadBytes).describe('Most bytes'),
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
  const folder = await openWorkspaceFolder(root, parts.slice(0, -1), false)
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

const maxContentBytes = 1_048_576
const newFileMode = 0o644

export const fileWrite = defineTool({
  name: 'file_write',
  description: 'Writes a text file in /workspace. Files there are kept as artifacts of a task.',
  parameters: z.strictObject({
    path: z.string().min(1),
    content: z
      .string()
      .refine(
        (text) => Buffer.byteLength(text) <= maxContentBytes,
        'must be at most 1 MiB; write it in parts with append',
      ),
    mode: z.enum(['write', 'append']).default('write'),
    create_dirs: z.boolean().default(true),
  }),
  repeatable: false,
  async run(args, context) {
    const location = await locateFile(context.workspaceRoot, args.path)
    try {
      const folder = await openWorkspaceFolder(location.root, location.parts.slice(0, -1), args.create_dirs)
      try {
        const name = location.parts.at(-1) ?? ''
        const existing = await inspectFile(folder.pathOf(name), args.path)
        const write = args.mode === 'append' ? appendFile : replaceFile
        const size = await write({ folder, name, content: args.content, existing })
        return { success: true, path: location.shown, size, mode: args.mode, created: existing === undefined }
      } finally {
        await folder.close()
      }
    } catch (error) {
      throw explainFileError(error, args.path)
    }
  },
})

type Write = { folder: WorkspaceFolder; name: string; content: string; existing: Stats | undefined }

/** The current content; refuses anything that is not a regular file. */
async function inspectFile(address: string, path: string): Promise<Stats | undefined> {
  const stat = await lstatIfThere(address)
  if (stat === undefined || stat.isFile()) return stat
  if (stat.isSymbolicLink()) throw new SvcError('Forbidden', `"${path}" is a link that may not be followed`)
  throw new SvcError('InvalidRequest', `"${path}" is ${stat.isDirectory() ? 'a folder' : 'not a regular file'}`)
}

async function lstatIfThere(address: string): Promise<Stats | undefined> {
  try {
    return await lstat(address)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/**
 * Writes to a temporary file and renames it, so that a reader sees the old text or the new one. Returns the new size.
 */
async function replaceFile({ folder, name, content, existing }: Write): Promise<number> {
  const draft = folder.pathOf(`.svc-${randomUUID()}`)
  const mode = existing === undefined ? newFileMode : existing.mode & 0o777
  try {
    const handle = await open(
      draft,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      mode,
    )
    try {
      await handle.writeFile(content)
    } finally {
      await handle.close()
    }
    await rename(draft, folder.pathOf(name))
  } catch (error) {
    await unlink(draft).catch(() => undefined)
    throw error
  }
  return Buffer.byteLength(content)
}

async function appendFile({ folder, name, content }: Write): Promise<number> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const handle = await open(folder.pathOf(name), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, newFileMode)
  try {
    if (!(await handle.stat()).isFile()) throw new SvcError('InvalidRequest', `"${name}" is not a regular file`)
    await handle.writeFile(content)
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}
