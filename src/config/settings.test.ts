import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { listUnknownVariables, loadConfig } from './load.ts'
import { environmentNameOf, flagOf, settings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-settings-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function fromFile(text: string) {
  const file = join(folder, 'svc.yaml')
  writeFileSync(file, text)
  return () => loadConfig({ flags: {}, env: {}, file })
}

describe('settings', () => {
  it('of a file that is not there are refused in plain words', () => {
    const load = () => loadConfig({ flags: {}, env: {}, file: '/nowhere/svc.yaml' })
    expect(load).toThrow('--config /nowhere/svc.yaml: there is no such file or folder')
  })

  it.each([
    ['port', '99999', '--port must be a whole number from 0 to 65535'],
    ['port', 'many', '--port must be a whole number from 0 to 65535'],
    ['port', '', '--port must be a whole number from 0 to 65535'],
    ['maxIterations', '0', '--max-iterations must be a whole number of at least 1'],
    ['mode', 'cloud', '--mode must be one of auto, embedded'],
    ['logLevel', 'loud', '--log-level must be one of trace, debug'],
    ['idleExit', '1d', '--idle-exit must be a duration such as 30s'],
    ['sessionRetention', '90', '--session-retention must be days or a duration'],
    ['taskTtl', 'soon', '--task-ttl must be days or a duration, such as 30d or 12h, or 0'],
    ['referenceWait', '5', '--reference-wait must be a duration'],
    ['allowUnsandboxed', 'perhaps', '--allow-unsandboxed must be true or false'],
    ['searchUrl', 'here', '--search-url must be an address'],
    ['bootstrapToken', 'short', '--bootstrap-token must have at least 16 characters'],
    ['dataDir', '', '--data-dir must not be empty'],
    ['databaseUrl', 'mysql://db/svc', '--database-url must be an address such as postgres://'],
    ['watchNamespace', 'team-a,Team B', '--watch-namespace must be names of namespaces such as team-a'],
    ['taskCpu', '0', '--task-cpu must be a number of cores such as 2, 0.5 or 500m'],
    ['taskMemory', 'much', '--task-memory must be a quantity'],
    ['agentProgram', 'qwen', '--agent-program qwen must be name=command'],
    ['agentImage', 'qwen', '--agent-image qwen must be name=image'],
    ['gitAuthor', 'Ada', '--git-author must be a name and an address, such as Ada <ada@example.com>'],
    ['gitAuthor', '... <ada@example.com>', '--git-author must be a name and an address'],
    ['databasePoolSize', '0', '--database-pool-size must be a whole number from 1 to 1000'],
  ])('refuse %s = %j with a plain message', (name, value, message) => {
    expect(() => loadConfig({ flags: { [name]: value }, env: {} })).toThrow(message)
  })

  it('read numbers, switches and lists alike from text and from YAML', () => {
    const expected = { port: 0, allowUnsandboxed: true, allowNetwork: ['10.0.0.0/8', '::1/128'] }
    const env = { SVC_PORT: '0', SVC_ALLOW_UNSANDBOXED: 'true', SVC_ALLOW_NETWORK: '10.0.0.0/8, ::1/128,' }
    expect(loadConfig({ flags: {}, env })).toMatchObject(expected)
    const yaml = 'port: 0\nallowUnsandboxed: true\nallowNetwork: [10.0.0.0/8, "::1/128"]\n'
    expect(fromFile(yaml)()).toMatchObject(expected)
  })

  it.each([
    ['port:', /port must be a whole number/],
    ['port: true', /port must be a whole number/],
    ['port: 80.5', /port must be a whole number/],
    ['dataDir: 5', /dataDir must be text/],
    ['allowNetwork: 5', /allowNetwork must be names/],
    ['- port', /must be a YAML mapping/],
    ['port: [', /svc\.yaml: /],
  ])('refuse the file `%s`', (text, message) => {
    expect(fromFile(text)).toThrow(message)
  })

  it('name a file that is not there', () => {
    expect(() => loadConfig({ flags: {}, env: {}, file: '/not/there.yaml' })).toThrow('--config /not/there.yaml')
  })

  it('treat an empty variable as unset', () => {
    expect(loadConfig({ flags: {}, env: { SVC_PORT: '' } })).toMatchObject({ port: 8080, sources: { port: 'default' } })
  })

  it('derive flag and variable from their name by one rule', () => {
    expect(flagOf('maxConcurrentTasks')).toBe('max-concurrent-tasks')
    expect(environmentNameOf('maxConcurrentTasks')).toBe('SVC_MAX_CONCURRENT_TASKS')
    const names = Object.keys(settings).map(environmentNameOf)
    expect(new Set(names).size).toBe(names.length)
  })

  it('report variables that begin with SVC_ and are not settings', () => {
    const env = { SVC_PROT: '1', SVC_PORT: '1', SVC_TOKEN: 'x', SVC_SERVER: 'x', SVC_CONFIG: 'x', PATH: '/' }
    expect(listUnknownVariables(env)).toEqual(['SVC_PROT'])
  })
})
