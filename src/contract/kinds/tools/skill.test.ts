import { describe, expect, it } from 'vitest'
import { innerPaths, unplainPaths } from '../../../../test/fixtures/inner-paths.ts'
import { SkillSpec, skillProblems } from './skill.ts'

const spec = (files?: Record<string, string>) =>
  SkillSpec.parse({ description: 'd', content: { inline: '# x', ...(files && { files }) } })

describe('skill spec', () => {
  it('wants a description and Markdown, or a repository to read them from', () => {
    const pathsOf = (spec: object) => skillProblems(SkillSpec.parse(spec)).map(({ path }) => path)
    expect(SkillSpec.safeParse({ description: 'd', content: { inline: '' } }).success).toBe(false)
    expect(pathsOf({ content: { inline: '# x' } })).toEqual(['description'])
    expect(pathsOf({ description: 'd', source: { path: 'a' } })).toEqual(['content'])
    expect(pathsOf({})).toEqual(['description', 'content'])
    expect(pathsOf({ source: { codehost: 'https://github.com/owner/skills' } })).toEqual([])
    expect(skillProblems(spec())).toEqual([])
  })

  it.each(['a..b', ...innerPaths])('accepts the file %s', (path) => {
    expect(skillProblems(spec({ [path]: '' }))).toEqual([])
  })

  it.each(unplainPaths)('finds the file %j', (path) => {
    expect(skillProblems(spec({ [path]: '' }))).toHaveLength(1)
  })

  it('bounds files and their paths, and finds a file that is a folder too', () => {
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`f${at}`, '']))
    expect(skillProblems(spec(many))).toEqual([{ path: 'content.files', message: 'has 501 files; at most 500' }])
    expect(skillProblems(spec({ ['x'.repeat(256)]: '' }))).toMatchObject([
      { message: 'must have at most 255 characters' },
    ])
    expect(skillProblems(spec({ [`a/${'é'.repeat(127)}`]: '' }))).toEqual([])
    expect(skillProblems(spec({ [`a/${'é'.repeat(128)}`]: '' }))).toMatchObject([
      { message: 'must have at most 255 bytes between two "/"' },
    ])
    expect(skillProblems(spec({ 'SKILL.md/a': '' }))).toMatchObject([{ message: 'lies in a path that is a file' }])
    expect(skillProblems(spec({ a: '', 'a/b': '', 'ab/c': '' }))).toMatchObject([{ path: 'content.files["a/b"]' }])
  })
})
