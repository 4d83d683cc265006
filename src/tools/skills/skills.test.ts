import { describe, expect, it } from 'vitest'
import type { ToolContext } from '../registry/tool.ts'
import { createSkillRead, describeSkills } from './skills.ts'

const style = {
  name: 'style',
  description: 'd',
  inline: 'Be brief.',
  files: { 'a/b.md': 'two', 'long.txt': 'é'.repeat(40_000) },
}
const tool = createSkillRead([style, { name: 'bare', description: 'd', inline: 'Rhyme.' }])
// It needs nothing of the run.
const read = (args: object) => tool.invoke({ ...args }, {} as ToolContext, new AbortController().signal)

describe('skill_read', () => {
  it('is described once for all runs', () => {
    expect(createSkillRead([style]).parameters).toBe(tool.parameters)
  })

  it('gives the text of a skill with the names of its files, and each file', async () => {
    const files = ['a/b.md', 'long.txt']
    expect(await read({ name: 'style' })).toEqual({ success: true, name: 'style', content: 'Be brief.', files })
    expect(await read({ name: 'style', path: 'a/b.md' })).toEqual({
      success: true,
      name: 'style',
      path: 'a/b.md',
      content: 'two',
    })
    expect(await read({ name: 'bare' })).toEqual({ success: true, name: 'bare', content: 'Rhyme.' })
  })

  it('gives a long file in parts that end between characters', async () => {
    const first = (await read({ name: 'style', path: 'long.txt' })) as Record<string, unknown>
    expect(first).toMatchObject({ truncated: true, size: 80_000, next_offset: 49_152 })
    const rest = await read({ name: 'style', path: 'long.txt', offset: first.next_offset })
    expect(`${first.content}${(rest as Record<string, unknown>).content}`).toBe(style.files['long.txt'])
    expect(rest).not.toHaveProperty('next_offset')
  })

  it.each(['../style', '/etc/passwd', 'a/../a/b.md', './a/b.md', 'toString', '__proto__', ''])(
    'finds no file %j',
    async (path) => {
      expect(await read({ name: 'style', path })).toMatchObject({
        success: false,
        errorType: 'not_found',
        suggestion: 'There are: a/b.md, long.txt.',
      })
    },
  )

  it('says which skills there are', async () => {
    expect(await read({ name: 'toString' })).toMatchObject({
      errorType: 'not_found',
      suggestion: 'There are: style, bare.',
    })
  })
})

describe('the list of skills', () => {
  it('has a line each, with name and description, and says how they are read', () => {
    const skills = [
      { name: 'style', description: 'How we\n write' },
      { name: 'long', description: 'x'.repeat(4096) },
    ]
    expect(describeSkills(skills, 'with skill_read').split('\n')).toEqual([
      '<available_skills>',
      expect.stringMatching(/read its skill with skill_read\.$/),
      '- style: How we write',
      `- long: ${'x'.repeat(1000)}...`,
      '</available_skills>',
    ])
  })

  it('is empty without skills', () => {
    expect(describeSkills([], 'with skill_read')).toBe('')
  })
})
