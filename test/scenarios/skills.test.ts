// Skills from a folder on this machine to a model that reads them.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Skill } from '../../src/contract/kinds/tools/skill.ts'
import { addCommit, makeRepository } from '../fixtures/git/repository.ts'
import { startGitServer } from '../fixtures/git/server.ts'
import { type StrictVendor, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import { createTask, runSvc, waitForPhase } from './service.ts'
import { useSharedService } from './shared-service.ts'

const shared = useSharedService('skills')
let vendor: StrictVendor
let folder: string

const reads = [
  { id: 'a', name: 'skill_read', args: { name: 'style' } },
  { id: 'b', name: 'skill_read', args: { name: 'style', path: 'examples/one.md' } },
  { id: 'c', name: 'skill_read', args: { name: 'style', path: '../../etc/passwd' } },
]

beforeAll(async () => {
  vendor = await startStrictVendor(({ messages }) =>
    JSON.stringify(messages).includes('tool_call_id') ? { text: 'done' } : { calls: reads },
  )
  folder = join(shared.service.folder, 'style')
  mkdirSync(join(folder, 'examples'), { recursive: true })
  writeFileSync(
    join(folder, 'SKILL.md'),
    '---\nname: style\ndescription: How we write\nmetadata: { version: 2 }\n---\n# Be brief\n',
  )
  writeFileSync(join(folder, 'examples/one.md'), 'Like this.')
  symlinkSync('/etc/passwd', join(folder, 'examples/link'))
})
afterAll(async () => {
  await vendor.stop()
})

const svc = (...args: string[]) => runSvc(['skill', ...args], shared.service.env)
const spec = async () => (await shared.service.call<Skill>('GET', '/api/v1/skills/style')).body.spec

it('svc skill add takes the address of a repository, and svc skill refresh reads it again', async () => {
  const root = join(shared.service.folder, 'repositories')
  mkdirSync(root)
  const head = '---\nname: notes\ndescription: How we take notes\n---\n'
  const repository = makeRepository(root, 'shelf', {
    'kept/notes/SKILL.md': `${head}# Short\n`,
    'kept/notes/one.md': 'One.',
  })
  const server = await startGitServer({ root })
  try {
    const made = await svc('add', `${server.origin}/shelf.git`, '--path', 'kept/notes')
    expect([made.code, made.stderr]).toEqual([
      0,
      expect.stringMatching(/skill notes is that of commit \w{12}, with 2 files/),
    ])
    expect((await svc('show', 'notes')).stdout).toBe('# Short\n')
    const commit = addCommit(repository, 'main', { 'kept/notes/SKILL.md': `${head}# Shorter\n` })
    expect((await svc('refresh', 'notes')).stderr).toContain(`commit ${commit.slice(0, 12)}, with 1 file`)
    expect((await svc('show', 'notes')).stdout).toBe('# Shorter\n')
    const read = async () => (await shared.service.call<Skill>('GET', '/api/v1/skills/notes')).body
    const { status } = await waitFor(async () => {
      const skill = await read()
      return skill.status?.commit === commit ? skill : undefined
    }, 'the status to name the commit')
    expect(status).toMatchObject({ contentHash: (await read()).spec.source?.contentHash, readAt: expect.any(String) })
    const refused = await svc('add', `${server.origin}/shelf.git`, '--path', 'kept')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('kept has no SKILL.md')])
    // What is changed by hand is not that of the commit any more.
    const { spec: given } = await read()
    const spec = { ...given, content: { inline: 'by hand' } }
    await shared.service.call('PUT', '/api/v1/skills/notes', { spec })
    await waitFor(async () => ((await read()).status?.commit === undefined ? true : undefined), 'the commit to go')
  } finally {
    await server.stop()
  }
})

describe('svc skill add', () => {
  it('makes a skill from a folder without following links, shows it, and brings it up to date', async () => {
    const made = await svc('add', folder)
    expect([made.code, made.stderr]).toEqual([
      0,
      expect.stringMatching(/left out: examples\/link \(a link.*\nskill style created/s),
    ])
    const content = { inline: '# Be brief\n', files: { 'examples/one.md': 'Like this.' } }
    expect(await spec()).toEqual({ description: 'How we write', version: '2', content })
    expect(await svc('show', 'style')).toMatchObject({ code: 0, stdout: '# Be brief\n' })
    expect((await svc('list')).stdout).toMatch(/style .*How we write/)
    writeFileSync(join(folder, 'more.txt'), 'more')
    expect((await svc('add', folder)).stderr).toContain('skill style was changed')
    expect((await spec()).content?.files).toEqual({ 'examples/one.md': 'Like this.', 'more.txt': 'more' })
    expect((await svc('add', folder)).stderr).toContain('skill style is unchanged')
  })

  it('says why a folder is no skill', async () => {
    const other = join(shared.service.folder, 'other')
    mkdirSync(other)
    const refused = async () => {
      const { code, stderr } = await svc('add', other)
      expect(code).not.toBe(0)
      return stderr
    }
    expect(await refused()).toContain('has no SKILL.md')
    writeFileSync(join(other, 'SKILL.md'), '# Without a beginning')
    expect(await refused()).toContain('must begin with its name and description')
    writeFileSync(join(other, 'SKILL.md'), '---\ndescription: [\n---\n')
    expect(await refused()).toContain('is not YAML')
    writeFileSync(join(other, 'picture.png'), Buffer.from([0x89, 0x50, 0, 1]))
    expect(await refused()).toContain('picture.png is not text')
    rmSync(other, { recursive: true })
    expect((await svc('add', other, '--ref', 'main')).stderr).toContain('--ref is for the address of a repository')
  })
})

describe('a skill of a task', () => {
  it('is listed to the model, which reads its text and its files and nothing else', async () => {
    const provider = { type: 'llmo', baseURL: `${vendor.url}/v1`, defaultModel: 'test-model' }
    expect((await shared.service.call('POST', '/api/v1/providers', { name: 'vendor', spec: provider })).status).toBe(
      201,
    )
    await createTask(shared.service, 'write', {
      type: 'ai',
      ai: { providerRef: { name: 'vendor' }, prompt: 'write', skills: [{ name: 'style' }] },
    })
    await waitForPhase(shared.service, 'write', 'Succeeded')
    const [first, second] = vendor.asked
      .filter(({ path }) => path.endsWith('/chat/completions'))
      .map(({ body }) => body as { messages: { role: string; content: string }[] })
    expect(first?.messages[0]?.content).toContain('- style: How we write')
    expect(first?.messages[0]?.content).not.toContain('Be brief')
    const results = second?.messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content))
    expect(results).toEqual([
      { success: true, name: 'style', content: '# Be brief\n', files: ['examples/one.md', 'more.txt'] },
      { success: true, name: 'style', path: 'examples/one.md', content: 'Like this.' },
      expect.objectContaining({ success: false, errorType: 'not_found' }),
    ])
  })

  it('is refused with a path that leaves its folder', async () => {
    for (const path of ['../a', '/etc/passwd', 'a/../../b']) {
      const content = { inline: 'x', files: { [path]: 'x' } }
      const answer = await shared.service.call('POST', '/api/v1/skills', {
        name: 'odd',
        spec: { description: 'd', content },
      })
      expect([path, answer.status]).toEqual([path, 400])
    }
  })
})
