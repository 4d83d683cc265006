// What changed, for reading and for `git apply`: whole files, up to a limit.
import { isUtf8 } from 'node:buffer'
import type { ChangedFile, CheckoutDiff } from '../ports/workspaces/checkouts.ts'
import { showingBinary } from './git-folder.ts'
import { runInTree, type WorkTree } from './work-tree.ts'

const mostFiles = 10_000

const changes: Record<string, ChangedFile['change']> = { A: 'added', D: 'removed', R: 'renamed' }

type Entry = ChangedFile & { sections: number }

/** `:modes ids LETTER`, then one path, or two of a renamed file (git-diff-tree(1), raw output). */
function readEntry(head: string, next: () => string): Entry {
  const letter = head.split(' ').at(-1)?.[0] ?? 'M'
  const from = letter === 'R' ? { from: next() } : {}
  const change = changes[letter] ?? 'changed'
  const sections = letter === 'T' ? 2 : 1
  return { path: next(), ...from, change, added: 0, removed: 0, binary: false, sections }
}

type Counts = Pick<ChangedFile, 'added' | 'removed' | 'binary'>

function readCounts(head: string, next: () => string): [string, Counts] {
  const [added = '-', removed = '-', ...rest] = head.split('\t')
  const name = rest.join('\t')
  // Of a renamed file the name is empty, and both follow.
  const path = name === '' ? [next(), next()][1] : name
  return [path ?? '', { added: Number(added) || 0, removed: Number(removed) || 0, binary: added === '-' }]
}

/** What `--raw --numstat -z` prints: first all entries, then the counts of all. */
export function readChanges(output: string): Entry[] {
  const words = output.split('\0')
  const entries: Entry[] = []
  const counts = new Map<string, Counts>()
  let at = 0
  const next = () => words[at++] ?? ''
  while (at < words.length) {
    const word = next()
    if (word.startsWith(':')) entries.push(readEntry(word, next))
    else if (word !== '') counts.set(...readCounts(word, next))
  }
  return entries.map((entry) => ({ ...entry, ...counts.get(entry.path) }))
}

const start = Buffer.from('diff --git ')
const lineStart = Buffer.from('\ndiff --git ')

/**
 * Cuts a patch into the sections of its files: no other line begins like that, as those of files are indented by one
 * character. Holds only what may still be kept.
 */
class Sections {
  readonly list: { text: Buffer; size: number }[] = []
  #held: Buffer[] = []
  #size = 0
  #tail = Buffer.alloc(0)
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  add(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#tail, chunk])
    for (let cut = bytes.indexOf(lineStart); cut >= 0; cut = bytes.indexOf(lineStart)) {
      this.#keep(bytes.subarray(0, cut + 1))
      this.#close()
      bytes = bytes.subarray(cut + 1)
    }
    const rest = Math.max(0, bytes.length - lineStart.length)
    this.#keep(bytes.subarray(0, rest))
    this.#tail = Buffer.from(bytes.subarray(rest))
  }

  end(): void {
    this.#keep(this.#tail)
    this.#tail = Buffer.alloc(0)
    this.#close()
  }

  #keep(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size <= this.#most) this.#held.push(Buffer.from(bytes))
  }

  #close(): void {
    if (this.#size > 0) this.list.push({ text: Buffer.concat(this.#held), size: this.#size })
    this.#held = []
    this.#size = 0
  }
}

const patchArgs = ['diff-tree', '-r', '-M', '--no-textconv', '--no-ext-diff', '--no-color']

async function readSections(tree: WorkTree, between: string[], most: number): Promise<Sections['list']> {
  const sections = new Sections(most)
  const args = [...patchArgs, '-p', '--binary', '--full-index', '--src-prefix=a/', '--dst-prefix=b/', ...between]
  await runInTree(tree, args, { onOutput: (chunk) => sections.add(chunk) })
  sections.end()
  return sections.list.filter(({ text, size }) => size > most || text.subarray(0, start.length).equals(start))
}

/** Text of another encoding would not survive: such files are shown as binary ones. */
async function readReadable(tree: WorkTree, between: string[], most: number): Promise<Sections['list']> {
  const sections = await readSections(tree, between, most)
  if (sections.every(({ text }) => isUtf8(text))) return sections
  const binary = await showingBinary(tree.gitDir, () => readSections(tree, between, most))
  return sections.map((section, index) => (isUtf8(section.text) ? section : (binary[index] ?? section)))
}

/** The difference between two trees. At most `most` bytes of text. */
export async function readDiff(tree: WorkTree, between: string[], most: number): Promise<Omit<CheckoutDiff, 'nested'>> {
  const { stdout } = await runInTree(tree, [...patchArgs, '--raw', '--numstat', '-z', ...between])
  const entries = readChanges(stdout.toString())
  if (entries.length === 0) return { text: '', files: [], truncated: false }
  const sections = await readReadable(tree, between, most)
  let text = ''
  let at = 0
  const files = entries.map(({ sections: count, ...file }): ChangedFile => {
    const parts = sections.slice(at, at + count)
    const size = parts.reduce((sum, part) => sum + part.size, 0)
    at += count
    if (Buffer.byteLength(text) + size > most)
      return { ...file, omitted: `its change of ${size} bytes does not fit into the diff` }
    text += Buffer.concat(parts.map((part) => part.text)).toString()
    return file
  })
  const truncated = files.length > mostFiles || files.some((file) => file.omitted !== undefined)
  return { text, files: files.slice(0, mostFiles), truncated }
}
