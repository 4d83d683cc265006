import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readSkillFolder } from './skill-folder.ts'

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
