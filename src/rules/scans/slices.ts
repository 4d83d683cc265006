// Review slices of a tree: the same tree gives the same slices, in any order of files and on any machine, without a model.
import { createHash } from 'node:crypto'
import type { SliceDraft, SliceFile, SliceTest } from '../../contract/api/scans/runs.ts'
import { type FileFacts, type LeftOut, looksLikeTest, maxOwnedBytes } from './file-facts.ts'
import { createImportIndex } from './import-paths.ts'
import { titleOf } from './languages.ts'
import { type FileGroup, groupFiles } from './slice-groups.ts'
import { baseNameOf, parentFolderOf } from './tree-paths.ts'

/** How much of each goes into one slice. */
export const sliceCaps = {
  entrypoints: 4,
  owned: 24,
  context: 24,
  tests: 24,
  ownedBytes: maxOwnedBytes,
} as const

/** What became of each file. */
export type TreeCounts = {
  /** Files in the tree. */
  files: number
  owned: number
  tests: number
  leftOut: Partial<Record<LeftOut['reason'], number>>
}

export type SlicedTree = {
  /** Sorted by id. */
  slices: SliceDraft[]
  counts: TreeCounts
  /** Sorted by path. */
  leftOut: LeftOut[]
  /** Ids of slices that imported a removed file, or have files of the folder it lay in. */
  bereft: Set<string>
}

export type TreeToSlice = {
  /** Name of the scan: part of every id. */
  scanName: string
  /** In any order. */
  files: readonly FileFacts[]
  leftOut?: readonly LeftOut[]
  /** Paths of files that the tree no longer has. */
  removed?: readonly string[]
}

type Imports = {
  /** Paths that a file imports. */
  of(path: string): readonly string[]
  /** Paths that import a file. */
  by(path: string): readonly string[]
}

const byPath = <T extends { path: string }>(a: T, b: T) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)

function readImports(files: readonly FileFacts[]): Imports {
  const index = createImportIndex(files)
  const imported = new Map(files.map((file) => [file.path, index.resolve(file)]))
  const importers = new Map<string, string[]>()
  for (const [from, targets] of imported) {
    for (const target of targets) {
      const known = importers.get(target)
      if (known === undefined) importers.set(target, [from])
      else known.push(from)
    }
  }
  return { of: (path) => imported.get(path) ?? [], by: (path) => importers.get(path) ?? [] }
}

/** Files with the names of tests that no other code imports, directly or by others of them. */
function findTests(files: readonly FileFacts[], imports: Imports): Set<string> {
  const tests = new Set(
    files.filter(({ path, role }) => role === 'source' && looksLikeTest(path)).map(({ path }) => path),
  )
  const pending = files.filter(({ path }) => !tests.has(path)).map(({ path }) => path)
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const target of imports.of(path)) if (tests.delete(target)) pending.push(target)
  }
  return tests
}

/** A file, or some lines of a large one. */
type Piece = { file: FileFacts; bytes: number; startLine?: number; endLine?: number }

function cutFile(file: FileFacts): Piece[] {
  const { bytes, lines, partStarts: starts = [] } = file
  if (starts.length <= 1) return [{ file, bytes }]
  return starts.map((startLine, part) => {
    const endLine = (starts[part + 1] ?? lines + 1) - 1
    return { file, bytes: Math.ceil(bytes / starts.length), startLine, endLine }
  })
}

/** In order, as much as one slice takes. */
function cutParts(files: readonly FileFacts[]): Piece[][] {
  const parts: Piece[][] = []
  let bytes = 0
  for (const piece of files.flatMap(cutFile)) {
    const last = parts.at(-1)
    const fits =
      piece.startLine === undefined &&
      last !== undefined &&
      last.length < sliceCaps.owned &&
      bytes + piece.bytes <= sliceCaps.ownedBytes
    if (fits) last.push(piece)
    else parts.push([piece])
    // A part of a large file stays alone.
    bytes = piece.startLine === undefined ? (fits ? bytes + piece.bytes : piece.bytes) : sliceCaps.ownedBytes
  }
  return parts
}

function countBy<T>(values: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

/** The most frequent first, then by path. */
function rank(paths: readonly string[]): string[] {
  return [...countBy(paths)].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1)).map(([path]) => path)
}

/** What the slice's files import, then who imports them. */
function findContext(owned: ReadonlySet<string>, imports: Imports, tests: ReadonlySet<string>): SliceFile[] {
  const isOther = (path: string) => !owned.has(path) && !tests.has(path)
  const imported = rank([...owned].flatMap((path) => imports.of(path).filter(isOther)))
  const importers = rank([...owned].flatMap((path) => imports.by(path).filter(isOther)))
  const reasons = new Map<string, string>()
  for (const path of imported) reasons.set(path, 'imported by this slice')
  for (const path of importers) if (!reasons.has(path)) reasons.set(path, 'imports a file of this slice')
  return [...reasons]
    .slice(0, sliceCaps.context)
    .map(([path, reason]) => ({ path, reason }))
    .sort(byPath)
}

const weight = ({ entrypoint }: FileFacts) => (entrypoint?.route ? 0 : entrypoint?.command ? 1 : 2)

function findEntrypoints(files: readonly FileFacts[]): SliceFile[] {
  return files
    .filter((file) => file.entrypoint !== undefined)
    .sort((a, b) => weight(a) - weight(b) || byPath(a, b))
    .slice(0, sliceCaps.entrypoints)
    .map(({ path, entrypoint }) => ({ path, ...entrypoint }))
    .sort(byPath)
}

const stem = (path: string) =>
  baseNameOf(path)
    .replace(/\.[^.]+$/, '')
    .replace(/([._-](test|tests|spec|e2e)|Tests?|TestCase|IT)$/, '')
    .replace(/^test_/, '')
    .toLowerCase()

/** Tests that import a file of the slice, or are named like one. */
function matchTests(
  owned: readonly FileFacts[],
  imports: Imports,
  tests: ReadonlySet<string>,
  byStem: Map<string, string[]>,
): string[] {
  const importing = owned.flatMap(({ path }) => imports.by(path).filter((one) => tests.has(one)))
  const named = owned.flatMap(({ path }) => byStem.get(stem(path)) ?? [])
  return rank([...importing, ...named])
    .slice(0, sliceCaps.tests)
    .sort()
}

const boundaryWords: [string, RegExp][] = [
  [
    'network',
    /(^|[/_.-])(http|https|net|api|rest|rpc|grpc|web|server|client|socket|routes?|handlers?|controllers?)([/_.-]|$)/i,
  ],
  [
    'persistence',
    /(^|[/_.-])(db|sql|store|storage|repo|repository|model|models|dao|database|migrations?|cache)([/_.-]|$)/i,
  ],
  [
    'identity',
    /(^|[/_.-])(auth|authn|authz|login|session|sessions|token|tokens|oauth|oidc|identity|password|permission|permissions)([/_.-]|$)/i,
  ],
]
const ownBoundaries: Partial<Record<FileGroup['source'], string[]>> = {
  'deterministic-node-package': ['process-execution'],
  'deterministic-node-routes': ['network'],
  'deterministic-python-package': ['network'],
  'deterministic-workflows': ['process-execution', 'supply-chain'],
  'deterministic-scripts': ['filesystem', 'process-execution'],
  'deterministic-config': ['supply-chain'],
}

function findBoundaries(group: FileGroup, pieces: readonly Piece[]): string[] {
  const named = boundaryWords.filter(([, words]) => pieces.some(({ file }) => words.test(file.path)))
  const routed = pieces.some(({ file }) => file.entrypoint?.route !== undefined) ? ['network'] : []
  return [...new Set([...(ownBoundaries[group.source] ?? []), ...named.map(([word]) => word), ...routed])].sort()
}

function summarize(files: readonly FileFacts[]): string {
  const counts = [...countBy(files.map(({ language }) => titleOf(language)))].sort(([a], [b]) => (a < b ? -1 : 1))
  return counts.map(([language, count]) => `${count} ${language} ${count === 1 ? 'file' : 'files'}`).join(', ')
}

/** `slice_` and the first 16 hex digits of a hash over scan, source and title. */
export function sliceId(scanName: string, source: string, title: string): string {
  return `slice_${createHash('sha256').update(`${scanName}|${source}|${title}`).digest('hex').slice(0, 16)}`
}

class Cutting {
  readonly #scanName: string
  readonly #imports: Imports
  readonly #tests: Set<string>
  readonly #testsByStem: Map<string, string[]>
  /** By the folder of their package.json. */
  readonly #scripts: Map<string, string[]>

  constructor(scanName: string, files: readonly FileFacts[]) {
    this.#scanName = scanName
    this.#imports = readImports(files)
    this.#tests = findTests(files, this.#imports)
    this.#testsByStem = Map.groupBy(this.#tests, stem)
    this.#scripts = new Map(
      files.flatMap(({ path, scripts }) => (scripts === undefined ? [] : [[parentFolderOf(path), scripts]])),
    )
  }

  isTest = ({ path }: FileFacts): boolean => this.#tests.has(path)

  cutGroup(group: FileGroup): SliceDraft[] {
    const parts = cutParts(group.files)
    return parts.map((pieces, part) => {
      const suffix = parts.length > 1 ? ` (part ${part + 1}/${parts.length})` : ''
      return this.#draft(group, pieces, `${group.title}${suffix}`)
    })
  }

  #draft(group: FileGroup, pieces: readonly Piece[], title: string): SliceDraft {
    const files = [...new Set(pieces.map(({ file }) => file))]
    const { source, kind, confidence } = group
    const tests = this.#listTests(group, files)
    return {
      schemaVersion: 1,
      id: sliceId(this.#scanName, source, title),
      source,
      title,
      summary: summarize(files),
      kind,
      entrypoints: findEntrypoints(files),
      ownedFiles: pieces.map(({ file, bytes: _, ...lines }) => ({ path: file.path, ...lines })),
      contextFiles: findContext(new Set(files.map(({ path }) => path)), this.#imports, this.#tests),
      tests,
      tags: [...new Set(files.map(({ language }) => language))].sort(),
      trustBoundaries: findBoundaries(group, pieces),
      confidence,
    }
  }

  #listTests(group: FileGroup, files: readonly FileFacts[]): SliceTest[] {
    const found = matchTests(files, this.#imports, this.#tests, this.#testsByStem)
    const script = this.#scripts.get(group.packageFolder ?? '')?.[0]
    const command = group.testCommand ?? (script === undefined ? undefined : `npm run ${script}`)
    return found.map((path) => ({ path, ...(command !== undefined && { command }) }))
  }
}

/** Slices that a removed file leaves without what they relied on. */
function findBereft(
  slices: readonly SliceDraft[],
  files: readonly FileFacts[],
  removed: readonly string[],
): Set<string> {
  if (removed.length === 0) return new Set()
  const gone = removed.map(
    (path): FileFacts => ({ path, bytes: 0, lines: 1, language: 'page', role: 'source', specifiers: [] }),
  )
  const index = createImportIndex([...files, ...gone].sort(byPath))
  const [paths, folders] = [new Set(removed), new Set(removed.map(parentFolderOf))]
  const touched = new Set(
    files
      .filter((file) => folders.has(parentFolderOf(file.path)) || index.resolve(file).some((path) => paths.has(path)))
      .map(({ path }) => path),
  )
  const isTouched = ({ ownedFiles }: SliceDraft) => ownedFiles.some(({ path }) => touched.has(path))
  return new Set(slices.filter(isTouched).map(({ id }) => id))
}

/** Cuts a tree; the caller has read each file once (`readFileFacts`). */
export function cutSlices({ scanName, files, leftOut = [], removed = [] }: TreeToSlice): SlicedTree {
  const sorted = files.toSorted(byPath)
  const cutting = new Cutting(scanName, sorted)
  const reviewed = sorted.filter((file) => !cutting.isTest(file))
  const slices = groupFiles(reviewed).flatMap((group) => cutting.cutGroup(group))
  return {
    slices: slices.sort((a, b) => (a.id < b.id ? -1 : 1)),
    counts: {
      files: files.length + leftOut.length,
      owned: reviewed.length,
      tests: sorted.length - reviewed.length,
      leftOut: Object.fromEntries([...countBy(leftOut.map(({ reason }) => reason))].sort()),
    },
    leftOut: leftOut.toSorted(byPath),
    bereft: findBereft(slices, reviewed, removed),
  }
}
