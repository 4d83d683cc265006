// A tree that is read once, file by file, and then cut: the caller does the reading.
import { createHash } from 'node:crypto'
import { trimTrailing } from '../../lib/trim.ts'
import { factsVersion } from './facts-version.ts'
import { type FileFacts, type LeftOut, leaveOutFile, readFileFacts, type TreeFile } from './file-facts.ts'
import type { LeftOutReason } from './left-out.ts'
import { cutSlices, type SlicedTree } from './slices.ts'

/** A file that was read, or why it is left out. */
type ReadFacts = FileFacts | LeftOutReason
/** By path; `id`: of the content. */
export type KnownFacts = ReadonlyMap<string, Known>
type Known = { id: string; facts: ReadFacts }

/** Of the version and of every byte: damaged, cut or old facts count as none. */
function headOf(body: Uint8Array): string {
  return `svc-facts ${factsVersion} ${createHash('sha256').update(body).digest('hex')}\n`
}

export function encodeFacts(facts: KnownFacts): Buffer {
  const body = Buffer.from(JSON.stringify([...facts]))
  return Buffer.concat([Buffer.from(headOf(body)), body])
}

export function decodeFacts(bytes: Buffer | undefined): KnownFacts {
  const end = bytes?.indexOf(10) ?? -1
  if (bytes === undefined || end < 0) return new Map()
  const body = bytes.subarray(end + 1)
  const isWhole = bytes.subarray(0, end + 1).toString('latin1') === headOf(body)
  return isWhole ? new Map(JSON.parse(body.toString()) as Iterable<[string, Known]>) : new Map()
}

type TreeReading = {
  /** Paths to read, sorted. */
  wanted: string[]
  /** For each of them once; without content: it could not be read. */
  take(path: string, content: Uint8Array | undefined): void
  /** When all were taken. `scanName` is part of the ids; `removed`: what an incremental run no longer finds. */
  cut(scanName: string, removed?: readonly string[]): SlicedTree
  /** Facts of this tree, when all were taken. */
  learnt(): KnownFacts
}

/** `id`: of its content, if that is known. */
type ListedFile = TreeFile & { id?: string }

const isWithin = (path: string, folder: string) => folder === '' || path.startsWith(`${folder}/`)

/** As the paths of a tree have it. */
const plainFolder = (subPath: string) =>
  trimTrailing(subPath, '/')
    .replace(/^\.?\/+/, '')
    .replace(/^\.$/, '')

class Reading implements TreeReading {
  readonly wanted: string[] = []
  readonly #ids = new Map<string, string>()
  readonly #learnt = new Map<string, { id: string; facts: ReadFacts }>()
  readonly #files: FileFacts[] = []
  readonly #leftOut: LeftOut[] = []

  constructor(entries: readonly ListedFile[], known: KnownFacts) {
    for (const entry of entries) this.#begin(entry, known)
    this.wanted.sort()
  }

  #begin(entry: ListedFile, known: KnownFacts): void {
    const { path, id } = entry
    const reason = leaveOutFile(entry)
    if (reason !== undefined) return void this.#leftOut.push({ path, reason })
    if (id !== undefined) this.#ids.set(path, id)
    const earlier = known.get(path)
    if (id !== undefined && earlier?.id === id) this.#keep(path, earlier.facts)
    else this.wanted.push(path)
  }

  #keep(path: string, facts: ReadFacts): void {
    const id = this.#ids.get(path)
    if (id !== undefined) this.#learnt.set(path, { id, facts })
    if (typeof facts === 'string') this.#leftOut.push({ path, reason: facts })
    else this.#files.push(facts)
  }

  take = (path: string, content: Uint8Array | undefined): void => {
    if (content === undefined) this.#leftOut.push({ path, reason: 'unreadable' })
    else this.#keep(path, readFileFacts(path, content))
  }

  cut(scanName: string, removed: readonly string[] = []): SlicedTree {
    return cutSlices({ scanName, files: this.#files, leftOut: this.#leftOut, removed })
  }

  learnt(): KnownFacts {
    return this.#learnt
  }
}

/**
 * `entries`: in any order. `subPath`: only what lies in this folder; its paths stay those of the repository. `known`: files
 * that need not be read again.
 */
export function startReading(entries: readonly ListedFile[], subPath = '', known: KnownFacts = new Map()): TreeReading {
  const folder = plainFolder(subPath)
  return new Reading(
    entries.filter(({ path }) => isWithin(path, folder)),
    known,
  )
}
