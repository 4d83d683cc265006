import { describe, expect, it } from 'vitest'
import { listSkills } from './skill-list.ts'

describe('the list of skills', () => {
  it('has a line each, with name and description, and says how they are read', () => {
    const skills = [
      { name: 'style', description: 'How we\n write' },
      { name: 'long', description: 'x'.repeat(4096) },
    ]
    expect(listSkills(skills, 'with skill_read').split('\n')).toEqual([
      '<available_skills>',
      expect.stringMatching(/read its skill with skill_read\.$/),
      '- style: How we write',
      `- long: ${'x'.repeat(1000)}...`,
      '</available_skills>',
    ])
  })

  it('is empty without skills', () => {
    expect(listSkills([], 'with skill_read')).toBe('')
  })
})
