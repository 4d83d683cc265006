// Headings of a text within a page: whatever levels it uses, they begin below the page's own and skip none, so that those who
// hear the page find their way by them.
import type { Block } from './tokens.ts'

function isHeading(block: Block): block is Extract<Block, { type: 'heading' }> {
  return block.type === 'heading'
}

/** The blocks with levels from `first` on. Those in lists and quotes are left as they are: they are drawn as bold text. */
export function settleLevels(blocks: Block[], first: number): Block[] {
  const used = [...new Set(blocks.filter(isHeading).map(({ level }) => level))].sort()
  let before = first - 1
  return blocks.map((block) => {
    if (!isHeading(block)) return block
    before = Math.min(first + used.indexOf(block.level), before + 1, 6)
    return { ...block, level: before }
  })
}
