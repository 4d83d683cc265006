import { describe, expect, it } from 'vitest'
import type { SkillContent } from '../../contract/kinds/tools/skill.ts'
import { formatSkill, hashSkill, measureSkill } from './skill-content.ts'

describe('skill content', () => {
  it('has a hash over the Markdown and the files, in any order', () => {
    const one = hashSkill({ inline: 'x', files: { a: '1', b: '2' } })
    expect(one).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(hashSkill({ inline: 'x', files: { b: '2', a: '1' } })).toBe(one)
    const others: SkillContent[] = [
      { inline: 'x' },
      { inline: 'x', files: { a: '12', b: '' } },
      { inline: 'xa', files: { b: '2' } },
    ]
    for (const other of others) expect(hashSkill(other)).not.toBe(one)
  })

  it('is measured in bytes', () => {
    expect(measureSkill({ inline: 'é', files: { a: '123' } })).toBe(5)
  })

  it('is put into a delimited section of the prompt where nothing describes it', () => {
    expect(formatSkill('texts/style', 'Be brief.\n')).toBe('<skill name="texts/style">\nBe brief.\n</skill>')
  })
})
