// The lines of a hunk beside each other: what was there at the left, what is there now at the right.
import type { DiffLine } from './diff.ts'

export type LinePair = { before?: DiffLine; after?: DiffLine }

type Block = { removed: DiffLine[]; added: DiffLine[] }

/** Removed lines and the added ones after them are pairs, as far as there are as many of both. */
function pairBlock({ removed, added }: Block): LinePair[] {
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, at) => {
    const [before, after] = [removed[at], added[at]]
    return { ...(before && { before }), ...(after && { after }) }
  })
}

/** Where the line belongs; a remark (`No newline at end of file`) stands where the line before it does. */
function sideOf({ sign }: DiffLine, { removed, added }: Block): 'removed' | 'added' | 'both' {
  if (sign === '-') return 'removed'
  if (sign === '+') return 'added'
  if (sign !== '\\' || removed.length + added.length === 0) return 'both'
  return added.length > 0 ? 'added' : 'removed'
}

export function pairLines(lines: readonly DiffLine[]): LinePair[] {
  const pairs: LinePair[] = []
  let block: Block = { removed: [], added: [] }
  function close(): void {
    pairs.push(...pairBlock(block))
    block = { removed: [], added: [] }
  }
  for (const line of lines) {
    const side = sideOf(line, block)
    if (side === 'both' || (side === 'removed' && block.added.length > 0)) close()
    if (side === 'both') pairs.push({ before: line, after: line })
    else block[side].push(line)
  }
  close()
  return pairs
}
