import { describe, expect, it } from 'vitest'
import { SkillSpec, skillProblems } from './skill.ts'

const spec = (files?: Record<string, string>) =>
  SkillSpec.parse({ description: 'd', content: { inline: '# x', ...(files && { files }) } })

describe('skill spec', () => {
  it('wants a description and Markdown', () => {
    expect(SkillSpec.safeParse({ content: { inline: '# x' } }).success).toBe(false)
    expect(SkillSpec.safeParse({ description: 'd', content: { inline: '' } }).success).toBe(false)
    expect(SkillSpec.safeParse({ description: 'd' }).success).toBe(false)
    expect(skillProblems(spec())).toEqual([])
  })

  it.each(['a.txt', 'a/b.md', '.hidden', 'a..b'])('accepts the file %s', (path) => {
    expect(skillProblems(spec({ [path]: '' }))).toEqual([])
  })

  it.each(['', '/etc/passwd', '../x', 'a/../../b', 'a//b', './a', 'a\\b', 'a\0'])('finds the file %j', (path) => {
    expect(skillProblems(spec({ [path]: '' }))).toHaveLength(1)
  })
})
