import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SkillContent } from '../../contract/kinds/tools/skill.ts'
import { formatSkill, hashSkill, measureSkill, readSkillFolder } from './skills.ts'

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

const read = (head: string) => readSkillFolder('style', { 'SKILL.md': `---\n${head}\n---\nBe brief` })

describe('the beginning of SKILL.md', () => {
  const warnings: string[] = []
  const note = ({ message }: Error) => void warnings.push(message)
  beforeEach(() => void process.on('warning', note))
  afterEach(() => void process.off('warning', note))

  it('says what the skill is', async () => {
    const { name, spec } = await read('name: style\ndescription: How we write\nmetadata: { version: 2 }')
    expect([name, spec]).toEqual([
      'style',
      { description: 'How we write', version: '2', content: { inline: 'Be brief' } },
    ])
  })

  it('fills no log, however odd its lines', async () => {
    await read(`${'%odd line\n'.repeat(20)}--- !odd\ndescription: x`).catch(() => undefined)
    await read('description: !odd x')
    await new Promise(setImmediate)
    expect(warnings).toEqual([])
  })

  it('is read only up to a length, since the time for it grows faster', async () => {
    await expect(read(`description: x ${'!a '.repeat(6000)}`)).rejects.toThrow('more than 16384 characters; shorten it')
    expect((await read(`description: x\n#${' '.repeat(16_000)}`)).spec.description).toBe('x')
  })
})
