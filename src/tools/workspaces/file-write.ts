// file_write: replaces a file of the workspace as a whole, or appends to it (BUILT-012..014, BUILT-026).
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lstat, open, rename, unlink } from 'node:fs/promises'
import { z } from 'zod'
import { SvcError } from '../../errors.ts'
import { defineTool } from '../registry/tool.ts'
import { explainFileError, fileErrorCode } from './file-error.ts'
import { type Folder, openFolder } from './folder.ts'
import { locateFile } from './location.ts'

const largestContent = 1_048_576
const newFileMode = 0o644

export const fileWrite = defineTool({
  name: 'file_write',
  description: 'Writes a text file in /workspace. Files there are kept as artifacts of a task.',
  parameters: z.strictObject({
    path: z.string().min(1),
    content: z
      .string()
      .refine(
        (text) => Buffer.byteLength(text) <= largestContent,
        'must be at most 1 MiB; write it in parts with append',
      ),
    mode: z.enum(['write', 'append']).default('write'),
    create_dirs: z.boolean().default(true),
  }),
  repeatable: false,
  async run(args, context) {
    const location = await locateFile(context.workspaceRoot, args.path)
    try {
      const folder = await openFolder(location.root, location.parts.slice(0, -1), args.create_dirs)
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

type Write = { folder: Folder; name: string; content: string; existing: Stats | undefined }

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
    if (fileErrorCode(error) === 'ENOENT') return undefined
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
