// Files that a repository keeps elsewhere, by pointers (Git LFS): fetched by its batch API, over the same rules and with the
// same login as the repository itself.
import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, open, readFile } from 'node:fs/promises'
import { parseForeignJson } from '../contract/schema/foreign-json.ts'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { runGitCommand } from './command.ts'
import { loginHeaders, type ServerOptions } from './server.ts'

/** What a pointer stands for. `oid`: sha256, in hex. */
export type LargeFile = { oid: string; size: number }
/** By path, in latin1: names need not be UTF-8. */
export type LargeFiles = Record<string, LargeFile>

type LfsCheckout = { folder: string; gitDir: string; server: ServerOptions; maxBytes: number; signal: AbortSignal }

const maxPointerBytes = 1024
const batch = 100
const maxAnswerBytes = 1024 ** 2
const pointer =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n$/
const mediaType = 'application/vnd.git-lfs+json'

const pathOf = (folder: string, path: string) =>
  Buffer.from(`${Buffer.from(folder).toString('latin1')}/${path}`, 'latin1')

/** Paths of small plain files: `MODE SIZE PATH`. */
async function listSmall({ gitDir, signal }: LfsCheckout, commit: string): Promise<string[]> {
  const format = '--format=%(objectmode) %(objectsize) %(path)'
  const { stdout } = await runGitCommand({ args: ['ls-tree', '-r', '-z', format, commit], gitDir, signal })
  return stdout
    .toString('latin1')
    .split('\0')
    .flatMap((line) => {
      const [, mode, size, path] = /^(\d+) +(\d+) (.*)$/s.exec(line) ?? []
      return mode?.startsWith('100') && Number(size) <= maxPointerBytes && path !== undefined ? [path] : []
    })
}

async function findPointers(checkout: LfsCheckout, commit: string): Promise<LargeFiles> {
  const found: LargeFiles = {}
  for (const path of await listSmall(checkout, commit)) {
    const [, oid, size] = pointer.exec(await readFile(pathOf(checkout.folder, path), 'latin1')) ?? []
    if (oid !== undefined) found[path] = { oid, size: Number(size) }
  }
  return found
}

type Action = { href: string; header?: Record<string, string> }
type Answer = { objects?: { oid?: string; actions?: { download?: Action }; error?: { message?: string } }[] }

function failed(host: string, why: string): CheckoutError {
  return new CheckoutError('Unreachable', `Large files of the repository cannot be fetched from ${host}: ${why}.`)
}

/** Where each object is. A repository's LFS server is at its own address, which ends with `.git`. */
async function askWhere({ server, signal }: LfsCheckout, wanted: LargeFile[]): Promise<Map<string, Action>> {
  const { url, login, egress, policy } = server
  const address = `${url.replace(/(\.git)?\/?$/, '.git')}/info/lfs/objects/batch`
  const { host, origin } = new URL(url)
  const response = await egress.fetchWith(policy)(address, {
    method: 'POST',
    headers: { accept: mediaType, 'content-type': mediaType, ...loginHeaders(login, origin) },
    body: JSON.stringify({ operation: 'download', transfers: ['basic'], objects: wanted }),
    redirect: 'manual',
    signal,
  })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw failed(host, `it answered with status ${response.status}; leave workspace.lfs out to work with the pointers`)
  }
  const answer = parseForeignJson(await readText(response, host)) as Answer | undefined
  const objects = Array.isArray(answer?.objects) ? answer.objects : []
  return new Map(objects.flatMap((one) => (one?.oid && one.actions?.download ? [[one.oid, one.actions.download]] : [])))
}

async function readText(response: Response, host: string): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.byteLength
    if (size > maxAnswerBytes) throw failed(host, 'its answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Into the file of the pointer, which no program of the attempt has reached yet. */
async function fetchFile(checkout: LfsCheckout, path: string, { oid, size }: LargeFile, action: Action | undefined) {
  const { server, signal, folder } = checkout
  const from = URL.parse(action?.href ?? '')
  if (from === null) throw failed(new URL(server.url).host, `it has no object ${oid}`)
  const headers = { ...loginHeaders(server.login, from.origin), ...action?.header }
  const response = await server.egress.fetchWith(server.policy)(from.href, { headers, redirect: 'manual', signal })
  if (response.status !== 200) {
    await response.body?.cancel()
    throw failed(from.host, `it answered with status ${response.status}`)
  }
  const hash = createHash('sha256')
  let left = size
  const file = await open(pathOf(folder, path), constants.O_WRONLY | constants.O_TRUNC | constants.O_NOFOLLOW)
  try {
    for await (const part of response.body ?? []) {
      left -= part.byteLength
      if (left < 0) break
      hash.update(part)
      await file.write(part)
    }
  } finally {
    await file.close()
  }
  if (left !== 0 || hash.digest('hex') !== oid) throw failed(from.host, `what it sent is not ${oid}`)
}

/** Replaces the pointers of a checkout by their files. Nothing is kept of one that cannot be had: the checkout fails. */
export async function fetchLargeFiles(checkout: LfsCheckout, commit: string): Promise<LargeFiles> {
  const found = await findPointers(checkout, commit)
  const entries = Object.entries(found)
  const bytes = entries.reduce((sum, [, { size }]) => sum + size, 0)
  if (bytes > checkout.maxBytes) {
    const message = `The large files of the repository have ${bytes} bytes, more than the limit of ${checkout.maxBytes}. Raise the limit.`
    throw new CheckoutError('TooLarge', message)
  }
  for (let start = 0; start < entries.length; start += batch) {
    const some = entries.slice(start, start + batch)
    const actions = await askWhere(
      checkout,
      some.map(([, file]) => file),
    )
    for (const [path, file] of some) await fetchFile(checkout, path, file, actions.get(file.oid))
  }
  return found
}

async function hashFile(path: Buffer): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  for await (const part of file.createReadStream()) hash.update(part)
  return hash.digest('hex')
}

/** Whether the file is the one that was fetched: then its pointer stands for it still. */
export async function isAsFetched(folder: string, path: string, fetched: LargeFile | undefined): Promise<boolean> {
  if (fetched === undefined) return false
  const checkout = pathOf(folder, path)
  const stats = await lstat(checkout).catch(() => undefined)
  if (!stats?.isFile() || stats.size !== fetched.size) return false
  return (await hashFile(checkout)) === fetched.oid
}
