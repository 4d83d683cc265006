// Which slices a run reviews: all of them, or in an incremental run those that a change can have made worse.
import type { LineRange, SliceDraft } from '../../contract/api/scans/runs.ts'
import type { SlicedTree } from './slices.ts'

/** What changed since the last processed commit. */
export type Changes = {
  /** New, changed, or under a new name. */
  changed: readonly string[]
  removed: readonly string[]
  /** Absent: too many to say. */
  lines?: readonly LineRange[]
}

export type SelectedSlice = {
  /** With what changed in it. */
  slice: SliceDraft
  /** False: nothing in it changed, and it is skipped. */
  review: boolean
}

/** Of one slice: beyond them only its files are named. */
const maxChangedFiles = 32
const maxChangedRanges = 64

type Changed = { paths: ReadonlySet<string>; ranges: ReadonlyMap<string, readonly LineRange[]> }

const filesOf = ({ ownedFiles, contextFiles = [], tests = [] }: SliceDraft) => [
  ...ownedFiles,
  ...contextFiles,
  ...tests,
]

function annotate(slice: SliceDraft, { paths, ranges }: Changed): SliceDraft {
  const changedFiles = [...new Set(filesOf(slice).map(({ path }) => path))].filter((path) => paths.has(path)).sort()
  if (changedFiles.length === 0) return slice
  const changedLineRanges = changedFiles.flatMap((path) => ranges.get(path) ?? []).slice(0, maxChangedRanges)
  return {
    ...slice,
    changedFiles: changedFiles.slice(0, maxChangedFiles),
    ...(changedLineRanges.length > 0 && { changedLineRanges }),
  }
}

/** A file of its own changed; of a slice whose files surely belong together, also one beside them. */
function isChanged(slice: SliceDraft, paths: ReadonlySet<string>): boolean {
  const files = slice.confidence === 'high' ? filesOf(slice) : slice.ownedFiles
  return files.some(({ path }) => paths.has(path))
}

/**
 * `changes` absent: what changed cannot be told, and every slice is reviewed. `onlyChanged`: of an incremental run; any
 * other reviews every slice and only says what changed.
 */
export function selectSlices(
  { slices, bereft }: Pick<SlicedTree, 'slices' | 'bereft'>,
  changes: Changes | undefined,
  onlyChanged: boolean,
): SelectedSlice[] {
  if (changes === undefined) return slices.map((slice) => ({ slice, review: true }))
  const changed: Changed = {
    paths: new Set(changes.changed),
    ranges: Map.groupBy(changes.lines ?? [], ({ path }) => path),
  }
  return slices.map((slice) => ({
    slice: annotate(slice, changed),
    review: !onlyChanged || bereft.has(slice.id) || isChanged(slice, changed.paths),
  }))
}
