import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeSkills } from './agent-home.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-skills-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const skill = { name: 'greetings', description: 'How we greet.', inline: '# Greetings' }

it('lays skills as files that cannot be written to, and tells where they are', async () => {
  const files = { 'examples/short.md': 'Hi.', 'SKILL.md': 'not this one', ' -rf..': 'odd', 'a\nb': 'odder' }
  const { listed, folders } = await writeSkills([{ ...skill, files }], home)
  const own = join(home, 'skills', 'greetings')
  expect(folders).toEqual([join(home, 'skills')])
  expect(listed).toContain(`- greetings: How we greet.`)
  expect(listed).toContain(join(home, 'skills', 'NAME', 'SKILL.md'))
  expect(readFileSync(join(own, 'SKILL.md'), 'utf8')).toBe('# Greetings')
  expect(readFileSync(join(own, 'examples', 'short.md'), 'utf8')).toBe('Hi.')
  expect(readdirSync(own).sort()).toEqual([' -rf..', 'SKILL.md', 'a\nb', 'examples'])
  expect(statSync(join(own, 'SKILL.md')).mode & 0o777).toBe(0o400)
})

it('needs neither a folder nor a word where there are none', async () => {
  expect(await writeSkills([], home)).toEqual({ listed: '', folders: [] })
  expect(readdirSync(home)).toEqual([])
})

it.each([
  [{ ...skill, files: { '../../.claude/settings.json': '{}' } }],
  [{ ...skill, files: { 'a/../../other/SKILL.md': 'x' } }],
  [{ ...skill, files: { '..': 'x' } }],
  [{ ...skill, files: { '': 'x' } }],
  [{ ...skill, files: { 'a\0b': 'x' } }],
  [{ ...skill, name: '..' }],
  [{ ...skill, name: '../.claude' }],
  [{ ...skill, name: '.github' }],
  [{ ...skill, name: '' }],
])('lays nothing of a skill that leads out of its folder: %j', async (strange) => {
  await expect(writeSkills([strange], home)).rejects.toThrow('out of its folder')
  expect(existsSync(join(home, 'skills'))).toBe(false)
})
