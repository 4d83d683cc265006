// Lists what a commit has in all its folders. A tree may name itself any number of times, so a few objects can stand for more
// files than any disk holds: listing stops where it is told to.
import { CheckoutError } from '../ports/workspaces/checkouts.ts'
import { runGit } from './command.ts'

export type Listing = {
  gitDir: string
  commit: string
  /** What git-ls-tree(1) prints of each entry: options beside `-r -z`. */
  options: string[]
  /** Entries, and bytes of all that is printed. */
  most: { entries: number; bytes: number }
  env?: Record<string, string>
  signal: AbortSignal
}

/** Cuts what comes in at each NUL. */
class Records {
  #held: Buffer = Buffer.alloc(0)
  readonly #take: (record: Buffer) => unknown

  constructor(take: (record: Buffer) => unknown) {
    this.#take = take
  }

  add(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
    let from = 0
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
      this.#take(bytes.subarray(from, end))
      from = end + 1
    }
    this.#held = bytes.subarray(from)
  }
}

/** CheckoutError `TooLarge` when there is more than `most`. */
export async function listTree(listing: Listing, take: (record: Buffer) => unknown): Promise<void> {
  const { gitDir, commit, options, most, env = {}, signal } = listing
  const stop = new AbortController()
  let entries = 0
  let bytes = 0
  const records = new Records((record) => {
    entries += 1
    if (entries <= most.entries) take(record)
  })
  const onOutput = (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= most.bytes) records.add(chunk)
    if (bytes > most.bytes || entries > most.entries) stop.abort(tooLarge(most))
  }
  const args = ['ls-tree', '-r', '-z', ...options, commit]
  await runGit({ args, gitDir, env, onOutput, signal: AbortSignal.any([signal, stop.signal]) })
}

function tooLarge({ entries, bytes }: Listing['most']): CheckoutError {
  const message = `The repository has more than ${entries} files, or names of more than ${bytes} bytes. Name a smaller one.`
  return new CheckoutError('TooLarge', message)
}
