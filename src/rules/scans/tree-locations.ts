// Which files of a tree are meant by names from another machine. Nobody says where the repository was there, or whether a scanner ran in
// a folder of it: the folder that explains most of the names is taken.
import { isAbsoluteName, readAddress } from './sarif-names.ts'
import { baseNameOf } from './tree-paths.ts'

export type NamesSetting = {
  /** Every file of the tree. */
  paths: Iterable<string>
  /** All that are asked for. */
  names: Iterable<string>
  /** Folder of the tree that the scan is of. */
  folder?: string | undefined
  /** Where the scanner ran, as a person names it; it decides between files that are as likely. */
  root?: string | undefined
  /** What the scanner calls the root of the repository. */
  knownRoots?: readonly string[]
}

/** The file, or why there is none. */
export type FoundLocation = { path: string } | { reason: string }

/** What is taken from the beginning of a name, and which folder of the tree stands there instead. */
type Guess = { strip: string; add: string; path: string }

/** A name that more files have says nothing about where they are. */
const maxNamesakes = 200
/** Names of ambiguous files that a reason tells. */
const maxNamed = 3

/** Without what leads out of it: `../lib/a.py` is a file below a folder that is not known. */
function splitName(name: string): string[] {
  const parts: string[] = []
  for (const part of name.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts
}

/** `own`: how many of the last parts the name itself has, without the folder that it is relative to. */
type Parts = { parts: readonly string[]; own: number }

const join = (parts: readonly string[]) => parts.join('/')
const keyOf = ({ strip, add }: Guess) => `${strip}\0${add}`

function isBelow(parts: readonly string[], folder: readonly string[]): boolean {
  return folder.every((part, at) => parts[at] === part)
}

function countCommonEnd(a: readonly string[], b: readonly string[]): number {
  let count = 0
  while (count < a.length && count < b.length && a.at(-1 - count) === b.at(-1 - count)) count += 1
  return count
}

export class TreeLocations {
  readonly #paths: ReadonlySet<string>
  readonly #byName: Map<string, string[]>
  readonly #setting: NamesSetting
  readonly #votes = new Map<string, number>()
  /** The guess that explains most. */
  #leading: Guess | undefined

  constructor(setting: NamesSetting) {
    this.#setting = setting
    this.#paths = new Set(setting.paths)
    this.#byName = Map.groupBy(this.#paths, baseNameOf)
    for (const name of new Set(setting.names))
      for (const guess of this.#listGuesses(this.#split(name))) this.#vote(guess)
  }

  #split(name: string): Parts {
    const parts = splitName(name)
    const root = readAddress(this.#setting.root ?? '')
    if (isAbsoluteName(name) || !isAbsoluteName(root)) return { parts, own: parts.length }
    return { parts: splitName(`${root}/${name}`), own: parts.length }
  }

  #vote(guess: Guess): void {
    const key = keyOf(guess)
    this.#votes.set(key, (this.#votes.get(key) ?? 0) + 1)
    if (this.#leading === undefined || this.#compare(guess, this.#leading) < 0) this.#leading = guess
  }

  /** The likelier first: a place from which names are those of the tree, or of the scan, counts twice; then the longest end. */
  #compare(a: Guess, b: Guess): number {
    const score = (guess: Guess) => (this.#votes.get(keyOf(guess)) ?? 0) * (this.#isUsual(guess) ? 2 : 1)
    return score(b) - score(a) || Number(a.add !== '') - Number(b.add !== '') || a.strip.length - b.strip.length
  }

  #isUsual({ add }: Guess): boolean {
    return add === '' || add === this.#setting.folder
  }

  /** Ends of the name that are files of the tree; and where it is not absolute there, files that end like it. */
  #listGuesses(name: Parts): Guess[] {
    const { folder = '' } = this.#setting
    const { parts } = name
    const exact: Guess[] = []
    for (let at = 0; at < parts.length; at += 1) {
      const end = join(parts.slice(at))
      for (const add of new Set(['', folder])) {
        const path = add === '' ? end : `${add}/${end}`
        if (this.#paths.has(path)) exact.push({ strip: join(parts.slice(0, at)), add, path })
      }
    }
    return [...exact, ...this.#listEndings(name, exact)]
  }

  #listEndings({ parts, own: whole }: Parts, exact: readonly Guess[]): Guess[] {
    const namesakes = this.#byName.get(parts.at(-1) ?? '/') ?? []
    if (namesakes.length > maxNamesakes) return []
    const ends = namesakes.map((path) => ({ path, own: path.split('/') }))
    const counts = ends.map(({ own }) => countCommonEnd(parts, own))
    // Beside an end of the name that is a file, only a whole name can be another file.
    const wanted = exact.length > 0 ? whole : Math.max(0, ...counts)
    const isKnown = (path: string) => exact.some((guess) => guess.path === path)
    const found = ends.filter(({ path, own }, at) => counts[at] === wanted && own.length > wanted && !isKnown(path))
    return found.map(({ path, own }) => ({
      strip: join(parts.slice(0, parts.length - wanted)),
      add: join(own.slice(0, own.length - wanted)),
      path,
    }))
  }

  find(name: string): FoundLocation {
    const split = this.#split(name)
    const { parts } = split
    const absent = { reason: `there is no file ${JSON.stringify(name.slice(0, 200))} in the tree` }
    const root = this.#setting.knownRoots?.map(splitName).find((one) => isBelow(parts, one))
    const inRoot = root === undefined ? '' : join(parts.slice(root.length))
    if (this.#paths.has(inRoot)) return { path: inRoot }
    const guesses = this.#listGuesses(split).sort((a, b) => this.#compare(a, b))
    const [best] = guesses
    if (best === undefined) return absent
    if (this.#isGone(parts, best)) return absent
    return this.#choose(best, guesses, name)
  }

  /** Where other names of that folder are files, a name without one is of a file that is gone, not of one elsewhere. */
  #isGone(parts: readonly string[], best: Guess): boolean {
    const leading = this.#leading
    if (leading === undefined || keyOf(leading) === keyOf(best)) return false
    const isCommon = (this.#votes.get(keyOf(leading)) ?? 0) > 1 && (this.#votes.get(keyOf(best)) ?? 0) === 1
    return isCommon && isBelow(parts, splitName(leading.strip))
  }

  #choose(best: Guess, guesses: readonly Guess[], name: string): FoundLocation {
    const alike = guesses.filter((one) => one.add !== '' && best.add !== '' && this.#compare(one, best) === 0)
    if (alike.length < 2) return { path: best.path }
    const root = splitName(readAddress(this.#setting.root ?? ''))
    const named = alike.filter(({ add }) => countCommonEnd(root, add.split('/')) === add.split('/').length)
    const [only, ...others] = named
    if (only !== undefined && others.length === 0) return { path: only.path }
    const paths = alike.slice(0, maxNamed).map(({ path }) => path)
    const list = alike.length > maxNamed ? `${paths.join(', ')} or another` : paths.join(' or ')
    return {
      reason: `${JSON.stringify(name.slice(0, 200))} may be ${list}: name the folder in which the scanner ran with --root`,
    }
  }
}
