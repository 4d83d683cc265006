import type { DiffFile } from './diff.ts'

/** How many lines a file has more and less. */
export function LineCounts({ file: { added, removed, change } }: { file: DiffFile }) {
  return (
    <span className="diff-counts number">
      {change !== 'changed' && <span className="badge">{change}</span>}
      <span className="diff-added">+{added}</span> <span className="diff-removed">−{removed}</span>
    </span>
  )
}
