// Words of two lines compared; fetched when a diff is first shown.
import { diffWordsWithSpace } from 'diff'
import type { WordPart } from './word-marks.ts'

/** Lines that differ in more than this have nothing in common that would help. */
const maxDifferences = 200

/** Undefined where no word is the same. */
export function compareWords(before: string, after: string): { before: WordPart[]; after: WordPart[] } | undefined {
  const parts = diffWordsWithSpace(before, after, { maxEditLength: maxDifferences })
  if (!parts?.some(({ added, removed, value }) => !added && !removed && value.trim() !== '')) return undefined
  const of = (left: 'added' | 'removed', own: 'added' | 'removed') =>
    parts.filter((part) => !part[left]).map((part) => ({ text: part.value, isChanged: part[own] }))
  return { before: of('added', 'removed'), after: of('removed', 'added') }
}
