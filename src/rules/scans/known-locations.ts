// How much of what is known to be weak reaches a reviewer: locations of a list, looked for in the slices and their contexts.
import type { SliceDraft } from '../../contract/api/scans/runs.ts'
import type { ReviewContext } from './review-context.ts'
import { baseNameOf } from './tree-paths.ts'

/** A location as a list names it: a path, or the name of a file without its ending; with or without a line. */
export type KnownLocation = { name: string; line?: number }

const nameColumn = /^(path|file|filename|file path|test name|name)$/i
const lineColumn = /^(line|start line|startline)$/i
/** A list may also name locations that only look weak. */
const truthColumn = /^(real vulnerability|vulnerable|is real)$/i

/** One line of CSV (RFC 4180). */
function splitRow(row: string): string[] {
  const cells = row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)
  return [...cells].map(([, quoted, plain = '']) => (quoted?.replaceAll('""', '"') ?? plain).trim())
}

/** With a line of titles, which may begin with `#`; rows that are said not to be weak are passed over. Undefined: no column names a file. */
export function readKnownLocations(csv: string): KnownLocation[] | undefined {
  const [head = '', ...rows] = csv
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((row) => row.trim() !== '')
  const titles = splitRow(head.replace(/^#\s*/, ''))
  const [name, line, truth] = [nameColumn, lineColumn, truthColumn].map((title) =>
    titles.findIndex((one) => title.test(one)),
  )
  if (name === undefined || name < 0) return undefined
  return rows.map(splitRow).flatMap((cells) => {
    if (truth !== undefined && truth >= 0 && !/^(true|yes|1)$/i.test(cells[truth] ?? '')) return []
    const at = Number(cells[line ?? -1])
    return [{ name: cells[name] ?? '', ...(Number.isInteger(at) && at > 0 ? { line: at } : {}) }]
  })
}

export type Coverage = {
  places: number
  /** Lie in the files that some slice owns. */
  owned: number
  /** And in what a reviewer of that slice is shown. */
  shown: number
  /** The first of those that are not shown. */
  missed: KnownLocation[]
}

const maxMissedShown = 50

function isAmong(
  { line = 1 }: KnownLocation,
  {
    startLine = 1,
    endLine = Number.POSITIVE_INFINITY,
  }: { startLine?: number | undefined; endLine?: number | undefined },
) {
  return line >= startLine && line <= endLine
}

const stemOf = (path: string) => baseNameOf(path).replace(/\.[^.]*$/, '')

/** Paths that a location means; of a name without an ending, those of the language that most of the list is in. */
function findPaths(slices: readonly SliceDraft[]): (location: KnownLocation) => string[] {
  const paths = new Set(slices.flatMap(({ ownedFiles }) => ownedFiles.map(({ path }) => path)))
  const byStem = Map.groupBy(paths, stemOf)
  return ({ name }) => (paths.has(name) ? [name] : (byStem.get(name) ?? []))
}

/** `contextOf`: what is shown of a slice. A location counts when every file that it may mean is there. */
export function measureCoverage(
  locations: readonly KnownLocation[],
  slices: readonly SliceDraft[],
  contextOf: (slice: SliceDraft) => ReviewContext,
): Coverage {
  const pathsOf = findPaths(slices)
  const owners = Map.groupBy(
    slices.flatMap((slice) => slice.ownedFiles.map((file) => ({ slice, file }))),
    ({ file }) => file.path,
  )
  const contexts = new Map<SliceDraft, ReviewContext>()
  const shownIn = (slice: SliceDraft, location: KnownLocation, path: string) => {
    const context = contexts.get(slice) ?? contextOf(slice)
    contexts.set(slice, context)
    const ranges = context.includedFiles.filter((file) => file.path === path).flatMap((file) => file.includedLineRanges)
    const isWhole = context.includedFiles.some((file) => file.path === path && file.role === 'owned' && !file.truncated)
    return location.line === undefined ? isWhole : ranges.some((range) => isAmong(location, range))
  }
  const judge = (location: KnownLocation) => {
    const found = pathsOf(location).map((path) =>
      (owners.get(path) ?? []).filter(({ file }) => isAmong(location, file)),
    )
    const isOwned = found.length > 0 && found.every((slots) => slots.length > 0)
    const isShown =
      isOwned && found.every((slots) => slots.some(({ slice, file }) => shownIn(slice, location, file.path)))
    return { location, isOwned, isShown }
  }
  const judged = locations.map(judge)
  return {
    places: locations.length,
    owned: judged.filter(({ isOwned }) => isOwned).length,
    shown: judged.filter(({ isShown }) => isShown).length,
    missed: judged
      .filter(({ isShown }) => !isShown)
      .slice(0, maxMissedShown)
      .map(({ location }) => location),
  }
}
