// Lists what a commit has in all its folders. A tree may name itself any number of times, so a few objects can stand
// for more files than any disk holds: listing stops at the limit. Also cuts what `git cat-file --batch` prints into the
// contents of objects, without holding more than one of them.
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { runGitCommand } from './command.ts'

export type Listing = {
  gitDir: string
  commit: string
  /** What git-ls-tree(1) prints of each entry: options beside `-r -z`. */
  options: string[]
  /** Entries, and bytes of all that is printed. */
  max: { entries: number; bytes: number }
  env?: Record<string, string>
  signal: AbortSignal
}

/** Cuts what comes in at each NUL. */
class Records {
  #buffered: Buffer = Buffer.alloc(0)
  readonly #take: (record: Buffer) => unknown

  constructor(take: (record: Buffer) => unknown) {
    this.#take = take
  }

  add(chunk: Buffer): void {
    const bytes = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk])
    let from = 0
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
      this.#take(bytes.subarray(from, end))
      from = end + 1
    }
    this.#buffered = bytes.subarray(from)
  }
}

/** CheckoutError `TooLarge` when there is more than `max`. */
export async function listTree(listing: Listing, take: (record: Buffer) => unknown): Promise<void> {
  const { gitDir, commit, options, max, env = {}, signal } = listing
  const stop = new AbortController()
  let entries = 0
  let bytes = 0
  const records = new Records((record) => {
    entries += 1
    if (entries <= max.entries) take(record)
  })
  const onOutput = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= max.bytes) records.add(chunk)
    if (bytes > max.bytes || entries > max.entries) stop.abort(tooLarge(max))
  }
  const args = ['ls-tree', '-r', '-z', ...options, commit]
  await runGitCommand({ args, gitDir, env, onOutput, signal: AbortSignal.any([signal, stop.signal]) })
}

function tooLarge({ entries, bytes }: Listing['max']): CheckoutError {
  const message = `The repository has more than ${entries} files, or names of more than ${bytes} bytes. Name a smaller one.`
  return new CheckoutError('TooLarge', message)
}

/** `ID TYPE SIZE\n`, the bytes, `\n`; or `ID missing\n`. */
export class BlobStream {
  readonly #take: (at: number, content: Buffer | undefined) => void
  #buffered: Buffer[] = []
  #size = 0
  /** Bytes of the object that is being read, with its last line end; undefined: its head comes next. */
  #wanted: number | undefined
  #at = 0

  constructor(take: (at: number, content: Buffer | undefined) => void) {
    this.#take = take
  }

  add(chunk: Buffer): void {
    this.#buffered.push(chunk)
    this.#size += chunk.length
    if (this.#wanted !== undefined && this.#size < this.#wanted) return
    let bytes = this.#buffered.length === 1 ? chunk : Buffer.concat(this.#buffered)
    for (let rest = this.#cut(bytes); rest !== undefined; rest = this.#cut(bytes)) bytes = rest
    this.#buffered = [bytes]
    this.#size = bytes.length
  }

  /** What follows the head or the object that `bytes` begins with; undefined: it is not all here. */
  #cut(bytes: Buffer): Buffer | undefined {
    return this.#wanted === undefined ? this.#readHead(bytes) : this.#readBody(bytes, this.#wanted)
  }

  #readHead(bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(10)
    if (end < 0) return undefined
    const [, , size] = bytes.subarray(0, end).toString('latin1').split(' ')
    if (size === undefined) this.#take(this.#at++, undefined)
    else this.#wanted = Number(size) + 1
    return bytes.subarray(end + 1)
  }

  #readBody(bytes: Buffer, wanted: number): Buffer | undefined {
    if (bytes.length < wanted) return undefined
    this.#take(this.#at++, bytes.subarray(0, wanted - 1))
    this.#wanted = undefined
    return bytes.subarray(wanted)
  }
}
