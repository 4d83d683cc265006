// Which commit is meant: branches and tags of the server, asked for by name.
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { readPktLines, writeRequest } from './pkt-lines.ts'
import type { Greeting } from './server.ts'

/** Full name to the commit it leads to, and the default branch. */
export type RemoteReferences = { commits: Map<string, string>; head?: string }

const commitId = /^[0-9a-f]{40}$/

const maxListBytes = 16 * 1024 ** 2

export function isCommitId(text: string): boolean {
  return commitId.test(text)
}

/** A safe name of a reference, or a fault: it goes into requests and onto command lines (git-check-ref-format(1)). */
export function checkName(name: string): string {
  const isShort = name.length <= 255
  const isSafe =
    isShort &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses control characters in names of references
    /^(?![-/.])(?!.*(\.\.|\/\/|\/\.|@\{|\.lock(\/|$)|[/.]$))[^\x00-\x20\x7f~^:?*[\\]+$/.test(name)
  if (isSafe && name !== '@') return name
  throw new CheckoutError('RefMissing', 'The name of the branch or tag is not one that git allows. Use another.')
}

/** `ID NAME`, with ` peeled:ID` of an annotated tag and ` symref-target:NAME` of HEAD (gitprotocol-v2(5)). */
function readReferences(lines: string[]): RemoteReferences {
  const commits = new Map<string, string>()
  let head: string | undefined
  for (const line of lines) {
    const [id = '', name = '', ...attributes] = line.split(' ')
    const attribute = (key: string) => attributes.find((one) => one.startsWith(key))?.slice(key.length)
    const commit = attribute('peeled:') ?? id
    if (isCommitId(commit)) commits.set(name, commit)
    if (name === 'HEAD') head = attribute('symref-target:refs/heads/')
  }
  return head === undefined ? { commits } : { commits, head }
}

function checkVersion({ lines }: Greeting): void {
  if (lines[0] === 'version 2' && lines.some((line) => line.startsWith('ls-refs'))) return
  const message = 'The server of the repository speaks an old version of the git protocol: version 2 is needed.'
  throw new CheckoutError('AddressUnsupported', message)
}

/** What the server has of these names, and its default branch. */
export async function listRemoteReferences(
  greeting: Greeting,
  names: string[],
  signal: AbortSignal,
): Promise<RemoteReferences> {
  checkVersion(greeting)
  const prefixes = ['HEAD', ...names].map((name) => `ref-prefix ${name}`)
  const request = writeRequest(['command=ls-refs', 'object-format=sha1'], ['peel', 'symrefs', ...prefixes])
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of await greeting.post(request, signal)) {
    parts.push(part)
    size += part.byteLength
    if (size > maxListBytes) throw new CheckoutError('TooLarge', 'The server lists more branches than can be read.')
  }
  return readReferences(readPktLines(Buffer.concat(parts)))
}

export type WantedReference = { branch?: string; ref?: string }

/** The names that a branch or a reference may stand for. */
export function namesOf({ branch, ref }: WantedReference): string[] {
  const heads = branch === undefined ? [] : [`refs/heads/${checkName(branch)}`]
  if (ref === undefined || isCommitId(ref)) return heads
  const name = checkName(ref)
  return [...heads, `refs/tags/${name}`, `refs/heads/${name}`, ...(name.startsWith('refs/') ? [name] : [])]
}

function missing(what: string): CheckoutError {
  return new CheckoutError('RefMissing', `The repository has no ${what}. Check the name, or push it first.`)
}

type Target = { commit: string; branch?: string }

function findBranch({ commits, head }: RemoteReferences, branch: string | undefined): Target {
  const name = branch ?? head
  const commit = branch === undefined ? commits.get('HEAD') : commits.get(`refs/heads/${branch}`)
  // The name of the default branch is the server's.
  if (commit !== undefined) return { commit, ...(name === undefined ? {} : { branch: checkName(name) }) }
  if (branch !== undefined && commits.has('HEAD')) throw missing(`branch "${branch}"`)
  if (branch !== undefined) throw missing(`branch "${branch}", or is empty`)
  throw new CheckoutError('RepositoryEmpty', 'The repository is empty. Push a first commit to it.')
}

/** The commit to check out, and the branch it is on, if it is one. */
export function findTargetCommit(references: RemoteReferences, { branch, ref }: WantedReference): Target {
  if (ref === undefined) return findBranch(references, branch)
  const on = branch === undefined ? {} : { branch: findBranch(references, branch).branch ?? branch }
  if (isCommitId(ref)) return { commit: ref, ...on }
  const { commits } = references
  const commit = commits.get(`refs/tags/${ref}`) ?? commits.get(`refs/heads/${ref}`) ?? commits.get(ref)
  if (commit === undefined) throw missing(`tag, branch or commit "${ref}"`)
  const isBranch = commits.get(`refs/tags/${ref}`) === undefined && commits.has(`refs/heads/${ref}`)
  return { commit, ...(isBranch ? { branch: ref } : {}), ...on }
}
