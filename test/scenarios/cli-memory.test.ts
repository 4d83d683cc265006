// `svc memory` and `svc proposal`: what people do with memories at the command line.
import { describe, expect, it } from 'vitest'
import { runSvc } from './service.ts'
import { useSharedService } from './shared-service.ts'

const shared = useSharedService('cli-memory')
const svc = (...args: string[]) => runSvc(args, shared.service.env)

describe('svc memory', () => {
  it('adds, lists, searches, shows and takes out of recall', async () => {
    expect((await svc('memory', 'list')).stderr).toContain('memory add "TEXT"')
    const added = await svc('memory', 'add', '--id', 'reset', '--tags', 'Staging,db', 'The database', 'is reset.')
    expect(added).toMatchObject({ code: 0, stdout: 'memory reset added\n' })
    await svc('memory', 'add', '--id', 'ports', 'The port is 8080.')
    expect((await svc('memory', 'list')).stdout).toMatch(/^ID +TAGS +CHANGED +TEXT\nports .*\nreset +staging,db /)
    expect((await svc('memory', 'search', 'databases', '-o', 'json')).stdout).toContain('"id": "reset"')
    expect((await svc('memory', 'search', 'databases')).stdout).not.toContain('ports')
    expect((await svc('memory', 'list', '--tags', 'db')).stdout).not.toContain('ports')
    expect((await svc('memory', 'show', 'reset')).stdout).toMatch(/^The database is reset\.\n\ntags: staging, db\n/)
    expect((await svc('memory', 'disable', 'reset', 'ports')).code).toBe(0)
    expect((await svc('memory', 'list')).stderr).toContain('no memories')
    expect((await svc('memory', 'list', '--all')).stdout).toContain('disabled')
    await svc('memory', 'enable', 'reset')
    expect((await svc('memory', 'rm', 'ports')).code).toBe(0)
    expect((await svc('memory', 'list')).stdout).toContain('reset')
    const unknown = await svc('memory', 'enable', 'ports')
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('memory not found')])
  })

  it('replaces an older memory, and changes one in the editor', async () => {
    await svc('memory', 'add', '--id', 'old', 'The limit is 10.')
    await svc('memory', 'add', '--id', 'new', '--supersedes', 'old', 'The limit is 20.')
    expect((await svc('memory', 'show', 'old')).stdout).toContain('state: superseded by new')
    const env = { ...shared.service.env, EDITOR: 'sed -i s/20/30/', VISUAL: undefined }
    expect((await runSvc(['memory', 'edit', 'new'], env)).stderr).toContain('memory new was changed')
    expect((await svc('memory', 'show', 'new')).stdout).toContain('The limit is 30.')
  })
})

describe('svc proposal', () => {
  const propose = (id: string) =>
    shared.service.call('POST', '/api/v1/memory-proposals', {
      id,
      type: 'memory',
      title: `About ${id}`,
      content: `Fact ${id}.`,
    })

  it('shows, decides, applies and archives', async () => {
    for (const id of ['one', 'two', 'three']) await propose(id)
    expect((await svc('proposal', 'list', '--status', 'pending')).stdout).toMatch(
      /^ID +TYPE +STATUS +MADE +TITLE\nthree /,
    )
    const undecided = await svc('proposal', 'review', 'one')
    expect([undecided.code, undecided.stderr]).toEqual([2, expect.stringContaining('proposal review one --accept')])
    expect((await svc('proposal', 'review', 'one', '--accept', '--note', 'seen it')).stderr).toContain('one accepted')
    expect((await svc('proposal', 'show', 'one')).stdout).toMatch(
      /^About one\n\nFact one\.\n\nmemory, accepted by .*: seen it\n/,
    )
    expect((await svc('proposal', 'apply', 'one')).stderr).toMatch(/one applied: memory mem-/)
    expect((await svc('memory', 'search', 'fact')).stdout).toContain('Fact one.')
    expect((await svc('proposal', 'review', 'two', '--apply')).stderr).toMatch(
      /two accepted\n.*two applied: memory mem-/,
    )
    expect((await svc('proposal', 'archive', 'three')).code).toBe(0)
    const late = await svc('proposal', 'review', 'three', '--reject')
    expect(late.stderr).toContain('the proposal is archived and cannot be rejected')
  })

  it('says what to type where there is no terminal to go through them, and with a decision about none', async () => {
    const alone = await svc('proposal', 'review')
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('needs a terminal')])
    expect(alone.stderr).toContain('proposal list --status pending')
    const nameless = await svc('proposal', 'review', '--accept')
    expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringContaining('say which proposal you mean')])
  })
})
