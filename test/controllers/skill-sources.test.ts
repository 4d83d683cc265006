// Skills that name nothing but where they are: the controller reads them, by a real git from a real server.
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Skill } from '../../src/contract/kinds/tools/skill.ts'
import { createRepositoryFolders } from '../../src/git/repository-folders.ts'
import { type CheckoutBed, makeCheckoutBed } from '../fixtures/git/checkout-bed.ts'
import { addCommit } from '../fixtures/git/repository.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bed: CheckoutBed
let shelf: string
let bench: Bench
let asked = 0
const text = (words: string) => `---\nname: style\ndescription: How we write\n---\n${words}\n`

beforeAll(async () => {
  bed = await makeCheckoutBed()
  shelf = bed.repository('shelf', { 'style/SKILL.md': text('# Be brief'), 'style/one.md': 'One.' })
})
afterAll(() => bed.remove())
beforeEach(async () => {
  asked = 0
  const folders = createRepositoryFolders(bed.checkouts, join(bed.home, 'folders'))
  const repositoryFolders = {
    read: (...place: Parameters<typeof folders.read>) => {
      asked += 1
      return folders.read(...place)
    },
  }
  bench = await openBench({ withCatalog: true, repositoryFolders })
})
afterEach(() => bench.close())

const login = () => ({ username: 'user', password: bed.password })
const source = (more: object = {}) => ({
  codehost: `${bed.server.origin}/shelf.git`,
  path: 'style',
  secretRef: { name: 'forge' },
  ...more,
})

function when(name: string, want: (skill: Skill) => boolean): Promise<Skill> {
  return waitFor(async () => {
    const skill = await bench.resources.get('Skill', { namespace: 'default', name })
    return skill !== undefined && want(skill) ? skill : undefined
  }, `skill ${name} is as wanted`)
}
const readyOf = ({ status }: Skill) => status?.conditions?.find(({ type }) => type === 'Ready')

describe('a skill with a source alone', () => {
  it('is read from there, pinned to its commit, and says that it is usable', async () => {
    await bench.secrets.create({ namespace: 'default', name: 'forge', stringData: login() })
    await bench.create('Skill', 'style', { source: source() })
    const { spec, status } = await when('style', ({ status }) => status?.phase === 'Ready')
    expect(spec).toMatchObject({
      description: 'How we write',
      content: { inline: '# Be brief\n', files: { 'one.md': 'One.' } },
      source: { ...source(), commit: status?.commit },
    })
    expect(status).toMatchObject({ commit: expect.stringMatching(/^[0-9a-f]{40}$/), readAt: spec.source?.readAt })
    expect(asked).toBe(1)
  })

  it('is read anew when its content is taken away', async () => {
    await bench.secrets.create({ namespace: 'default', name: 'forge', stringData: login() })
    await bench.create('Skill', 'again', { source: source() })
    const before = await when('again', ({ status }) => status?.phase === 'Ready')
    const commit = addCommit(shelf, 'main', { 'style/SKILL.md': text('# Be kind') })
    const { content: _content, ...spec } = before.spec
    await bench.resources.update('Skill', { ...before, spec })
    const after = await when(
      'again',
      ({ spec, status }) =>
        status?.phase === 'Ready' && status.commit === spec.source?.commit && status.commit === commit,
    )
    expect(after.spec.content).toEqual({ inline: '# Be kind\n' })
  })

  it('says why it cannot be read, is not asked for again and again, and is read once its source is changed', async () => {
    await bench.secrets.create({ namespace: 'default', name: 'forge', stringData: login() })
    await bench.create('Skill', 'lost', { source: source({ path: 'nowhere' }) })
    const lost = await when('lost', ({ status }) => status?.phase === 'Error')
    expect(readyOf(lost)).toMatchObject({
      status: 'False',
      reason: 'SourceUnreadable',
      message: expect.stringContaining('no folder "nowhere"'),
    })
    await bench.resources.update('Skill', { ...lost, metadata: { ...lost.metadata, labels: { seen: 'yes' } } })
    await bench.create('Skill', 'next', { description: 'd', content: { inline: 'x' } })
    await when('next', ({ status }) => status?.phase === 'Ready')
    expect(asked).toBe(1)
    const current = await when('lost', () => true)
    await bench.resources.update('Skill', { ...current, spec: { source: source() } })
    await when('lost', ({ status }) => status?.phase === 'Ready')
  })

  it('waits for its Secret', async () => {
    await bench.create('Skill', 'locked', { source: source({ secretRef: { name: 'missing' } }) })
    const locked = await when('locked', ({ status }) => status?.phase === 'Error')
    expect(readyOf(locked)?.message).toContain('"missing"')
    expect(locked.spec.content).toBeUndefined()
  })
})
