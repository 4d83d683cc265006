// Files to and from a sandbox as one archive in the `ustar` format (POSIX.1-1988, pax(1)), which every tar supports.
import { SvcError } from '../../errors.ts'
import { isInnerPath } from '../../lib/inner-path.ts'
import type { WorkspaceFile } from '../../ports/workspaces/sandbox.ts'

const block = 512
const maxNameLength = 100
const maxPrefixLength = 155
/** Offsets of the fields of a header. */
const fields = {
  name: [0, 100],
  mode: [100, 8],
  owner: [108, 8],
  group: [116, 8],
  size: [124, 12],
  time: [136, 12],
  sum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const

type Field = keyof typeof fields

function padded(size: number): number {
  return Math.ceil(size / block) * block
}

function put(header: Buffer, field: Field, text: string): void {
  const [at, length] = fields[field]
  header.write(text, at, length, 'utf8')
}

function take(header: Buffer, field: Field): string {
  const [at, length] = fields[field]
  const bytes = header.subarray(at, at + length)
  const end = bytes.indexOf(0)
  return bytes.subarray(0, end === -1 ? length : end).toString('utf8')
}

/** A path of over 100 bytes is split at a slash into prefix and name. */
function splitPath(path: string): { prefix: string; name: string } {
  if (Buffer.byteLength(path) <= maxNameLength) return { prefix: '', name: path }
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (Buffer.byteLength(prefix) <= maxPrefixLength && Buffer.byteLength(name) <= maxNameLength)
      return { prefix, name }
  }
  throw new SvcError('InvalidRequest', `the path "${path}" is too long for a sandbox; give the file a shorter one`)
}

function makeHeader({ path, bytes }: WorkspaceFile): Buffer {
  const header = Buffer.alloc(block)
  const { prefix, name } = splitPath(path)
  put(header, 'name', name)
  put(header, 'prefix', prefix)
  put(header, 'mode', '0000644')
  put(header, 'owner', '0000000')
  put(header, 'group', '0000000')
  put(header, 'size', bytes.length.toString(8).padStart(11, '0'))
  put(header, 'time', '00000000000')
  put(header, 'type', '0')
  put(header, 'magic', 'ustar\u000000')
  put(header, 'sum', ' '.repeat(8))
  const sum = header.reduce((total, byte) => total + byte, 0)
  put(header, 'sum', `${sum.toString(8).padStart(6, '0')}\0 `)
  return header
}

export function packFiles(files: WorkspaceFile[]): Buffer {
  const parts = files.flatMap((file) => {
    const rest = Buffer.alloc(padded(file.bytes.length) - file.bytes.length)
    return [makeHeader(file), Buffer.from(file.bytes), rest]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * block)])
}

function pathOf(header: Buffer): string {
  const prefix = take(header, 'prefix')
  const name = take(header, 'name')
  return (prefix === '' ? name : `${prefix}/${name}`).replace(/^(\.\/)+/, '')
}

/** The regular files of an archive; links, folders, other entries, and files whose name leads elsewhere are left out. */
export function unpackFiles(archive: Buffer): WorkspaceFile[] {
  const files: WorkspaceFile[] = []
  // A complete archive ends with blocks of zeros.
  for (let at = 0; archive[at] !== 0; ) {
    const header = archive.subarray(at, at + block)
    const size = Number.parseInt(take(header, 'size').trim(), 8)
    const end = at + block + size
    if (!Number.isInteger(size) || end >= archive.length)
      throw new SvcError('Internal', 'an archive of files is cut off')
    const path = pathOf(header)
    if (take(header, 'type') === '0' && isInnerPath(path))
      files.push({ path, bytes: archive.subarray(at + block, end) })
    at += block + padded(size)
  }
  return files
}
