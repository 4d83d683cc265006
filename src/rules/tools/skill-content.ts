// Identity and size of a skill's content.
import { createHash } from 'node:crypto'
import type { SkillContent } from '../../contract/kinds/tools/skill.ts'

/** A skill with more bytes than this takes up much of the context of a model that reads it. */
export const largeSkillBytes = 10_240

function listFiles(content: SkillContent): [path: string, text: string][] {
  return Object.entries(content.files ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

/**
 * `sha256:<hex>` over the Markdown and the files sorted by path; lengths are hashed too, so different contents never
 * match.
 */
export function hashSkill(content: SkillContent): string {
  const hash = createHash('sha256')
  for (const text of [content.inline, ...listFiles(content).flat()]) {
    const bytes = Buffer.from(text)
    hash.update(`${bytes.length}\n`).update(bytes)
  }
  return `sha256:${hash.digest('hex')}`
}

export function measureSkill(content: SkillContent): number {
  return [content.inline, ...Object.values(content.files ?? {})].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

/** A text without a description, as a delimited section of a system prompt. */
export function formatSkill(name: string, text: string): string {
  return [`<skill name="${name}">`, text.trimEnd(), '</skill>'].join('\n')
}
