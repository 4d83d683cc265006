// Uploads what the run left in /workspace/artifacts (TASK-059, TASK-060).
import { constants } from 'node:fs'
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { recordLimit } from '../contract/api/internal.ts'
import { ArtifactName } from '../contract/api/tasks.ts'
import type { WorkerApi } from './api.ts'

const folderName = 'artifacts'
const totalLimit = 50 * 1_048_576

const contentTypes: Record<string, string> = {
  '.txt': 'text/plain; charset=utf-8',
  '.log': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.pdf': 'application/pdf',
  '.zip': 'application/zip',
  '.gz': 'application/gzip',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
}

type Upload = { folder: string; name: string; left: number; api: Pick<WorkerApi, 'uploadArtifact'> }

/** Uploads every fit file by name; `note` is told what was and what was left out, and why. */
export async function uploadArtifacts(
  workspaceRoot: string,
  api: Pick<WorkerApi, 'uploadArtifact'>,
  note: (line: string) => void,
): Promise<void> {
  const folder = join(workspaceRoot, folderName)
  let left = totalLimit
  for (const name of await listNames(folder)) {
    const sent = await uploadFile({ folder, name, left, api })
    if ('skipped' in sent) {
      note(`[artifact ${JSON.stringify(name)} is left out: ${sent.skipped}]`)
      continue
    }
    left -= sent.size
    note(`[artifact ${JSON.stringify(name)} uploaded, ${sent.size} bytes]`)
  }
}

/** In order of name; nothing when there is no such folder, or a link in its place. */
async function listNames(folder: string): Promise<string[]> {
  const stat = await lstat(folder).catch(() => undefined)
  return stat?.isDirectory() ? (await readdir(folder)).sort() : []
}

async function uploadFile({ folder, name, left, api }: Upload): Promise<{ size: number } | { skipped: string }> {
  if (!ArtifactName.safeParse(name).success) return { skipped: 'its name is not a fit file name' }
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const handle = await open(join(folder, name), flags).catch(() => undefined)
  if (handle === undefined) return { skipped: 'it is a link or can not be read' }
  try {
    const stat = await handle.stat()
    const skipped = stat.isFile() ? findSizeProblem(stat.size, left) : 'only files directly in artifacts/ are kept'
    if (skipped !== undefined) return { skipped }
    const contentType = contentTypes[extname(name).toLowerCase()] ?? 'application/octet-stream'
    await api.uploadArtifact({ filename: name, contentType, open: () => readPart(handle, stat.size) })
    return { size: stat.size }
  } finally {
    await handle.close()
  }
}

function findSizeProblem(size: number, left: number): string | undefined {
  if (size === 0) return 'it is empty'
  if (size > recordLimit) return 'it is larger than 10 MiB'
  return size > left ? 'all artifacts together would be larger than 50 MiB' : undefined
}

/** The first `size` bytes, from the start each time: an upload may be repeated. */
async function* readPart(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const buffer = Buffer.alloc(Math.min(65_536, size - position))
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return
    position += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
