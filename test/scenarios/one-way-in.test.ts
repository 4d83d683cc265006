// Which service a command reaches: the one that runs, one that it starts, one that is named; and who may stop it.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startedByVariable } from '../../src/launch/service-file.ts'
import { waitFor } from '../fixtures/time.ts'
import {
  environmentOf,
  getTask,
  launchSvc,
  makeFolder,
  removeFolder,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const usualPort = 8080

describe('a command on a machine where no service runs', () => {
  const folder = makeFolder()
  const env = environmentOf(folder)
  const usual = createServer()
  beforeAll(async () => {
    // Another program may have it already.
    usual.on('error', () => undefined).listen(usualPort, '127.0.0.1')
    await new Promise((resolve) => usual.once('listening', resolve).once('error', resolve))
  })
  afterAll(async () => {
    usual.close()
    await runSvc(['down', '--yes'], env)
    removeFolder(folder)
  })

  it('starts one, even to read, whatever has the usual port; two commands at once start one', async () => {
    const [tasks, agents] = await Promise.all([launchSvc(['get', 'tasks'], env), launchSvc(['get', 'agents'], env)])
    expect([tasks.code, agents.code], tasks.stderr + agents.stderr).toEqual([0, 0])
    const told = `${tasks.stderr}${agents.stderr}`
    const started = [...told.matchAll(/started a service at http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) =>
      Number(port),
    )
    expect(started).toHaveLength(1)
    expect(started).not.toContain(usualPort)
    expect(told).toContain(`port ${usualPort} is taken`)
  })

  it('leaves the one that another command started in its place', async () => {
    const late = await launchSvc(['up', '--port', '0'], { ...env, [startedByVariable]: 'command' })
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('is in use by another service') })
  })

  it('stays where `svc up` cannot have the port that it is given', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    const late = await launchSvc(['up', '--port', String(port)], env)
    other.close()
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining(`port ${port} of 127.0.0.1 is taken`) })
    expect(late.stderr).not.toContain('taking over')
    expect(await runSvc(['status'], env)).toMatchObject({ code: 0 })
  })

  it('is replaced by `svc up` in a terminal, which continues the tasks', async () => {
    expect((await runSvc(['run', '-d', '--name', 'long', 'wait 300 seconds'], env)).code).toBe(0)
    const before = JSON.parse((await runSvc(['status', '-o', 'json'], env)).stdout) as { url: string }
    const service = await startService({ folder })
    expect(service.url).not.toBe(before.url)
    expect(service.output()).toContain('taking over')
    // Running alone would also be what the service before it wrote.
    const goesOn = async () => {
      const { phase, attempts = 0 } = (await getTask(service, 'long')).status ?? {}
      return phase === 'Running' && attempts > 1
    }
    await waitFor(goesOn, 'the task to go on')
    // Nobody else takes a service from a terminal.
    await expect(startService({ folder })).rejects.toThrow(String(service.process.pid))
    expect((await runSvc(['status', '-o', 'json'], env)).stdout).toContain(service.url)
    await checkStopping(service)
  }, 300_000)

  /** In the same service: starting one costs seconds. */
  async function checkStopping(service: Service): Promise<void> {
    const down = (flags: string[], given = {}) => runSvc(['down', ...flags], { ...env, ...given })
    const elsewhere = { SVC_SERVER: 'http://127.0.0.1:9', SVC_TOKEN: 't' }
    expect(await down(['--yes'], elsewhere)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('SVC_SERVER names'),
    })
    await runSvc(['config', 'set', 'team', '--server', 'http://127.0.0.1:9'], env)
    expect(await down(['--yes', '--context', 'team'])).toMatchObject({ code: 2 })
    expect(await down(['--yes'], { SVC_CONTEXT: 'team' })).toMatchObject({ code: 2 })
    for (const words of [
      ['backup', join(folder, 'b')],
      ['restore', join(folder, 'b'), '--replace'],
      ['secret', 'rotate-key'],
    ]) {
      expect(await launchSvc(words, { ...env, SVC_CONTEXT: 'team' })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('context team'),
      })
    }
    await waitForPhase(service, 'long', 'Running')
    expect(await down([])).toMatchObject({ code: 1, stderr: expect.stringMatching(/1 task runs.*--yes/) })
    expect((await launchSvc(['restore', folder, '--replace'], env)).stderr).toContain('--yes')
    expect((await getTask(service, 'long')).status?.phase).toBe('Running')
    expect(await down(['--yes'], { SVC_CONTEXT: 'local' })).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('stopped'),
    })
    await expect.poll(() => service.process.exitCode).toBe(0)
  }
})

describe('the note of a killed service', () => {
  it('makes no command send the token to a stranger at that address', async () => {
    const service = await startService()
    const { port } = new URL(service.url)
    await service.kill()
    const heard: (string | undefined)[] = []
    const stranger = createServer((request, response) => {
      heard.push(request.headers.authorization)
      response.end('{}')
    })
    await new Promise<void>((resolve) => stranger.listen(Number(port), '127.0.0.1', resolve))
    expect(await runSvc(['status'], service.env)).toMatchObject({ code: 3 })
    expect(await runSvc(['down'], service.env)).toMatchObject({ stderr: expect.stringContaining('no service runs') })
    expect(heard).toEqual([])
    stranger.close()
    removeFolder(service.folder)
  })
})

describe('contexts', () => {
  let service: Service
  const home = makeFolder()
  const env = environmentOf(home)
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(async () => {
    await service.stop()
    removeFolder(service.folder)
    removeFolder(home)
  })
  const svc = (words: string[], given: NodeJS.ProcessEnv = {}) => runSvc(words, { ...env, ...given })

  it('keep server, token and namespace readable for this user only, and direct every command there', async () => {
    const set = ['config', 'set', 'team', '--server', `${service.url}/`, '-n', 'build', '--token-from-env', 'TEAM']
    expect(await svc(set, { TEAM: service.token })).toMatchObject({ code: 0 })
    const file = join(env.XDG_CONFIG_HOME ?? '', 'svc', 'contexts.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await svc(['config', 'use', 'nobody'])).toMatchObject({ code: 2 })
    expect(await svc(['config', 'use', 'team'])).toMatchObject({ code: 0 })
    const who = JSON.parse((await svc(['whoami', '-o', 'json'])).stdout) as object
    expect(who).toMatchObject({ server: service.url, context: 'team', role: 'owner' })
    expect((await svc(['whoami'])).stdout).toMatch(/namespace: +build/)
    await svc(['run', '-q', '--name', 'there', 'say there'])
    expect((await service.call('GET', '/api/v1/tasks/there?namespace=build')).status).toBe(200)
    expect((await svc(['token', 'show'])).stdout).toBe(`${service.token}\n`)
    const listed = await svc(['config', 'contexts'])
    expect(listed.stdout).toMatch(/\* +team +http.* +build +kept/)
    expect(listed.stdout).not.toContain(service.token)
    expect(await svc(['config', 'contexts', '-o', 'json'])).toMatchObject({
      stdout: expect.not.stringContaining(service.token),
    })
  })

  it('forget their token when their address changes', async () => {
    const set = (server: string) => svc(['config', 'set', 'moving', '--server', server, '--token-from-file', '-'])
    expect((await set(service.url)).code).toBe(2)
    await svc(['config', 'set', 'moving', '--server', service.url, '--token-from-env', 'TEAM'], { TEAM: 'one' })
    await svc(['config', 'set', 'moving', '--server', 'http://127.0.0.1:9'])
    const file = readFileSync(join(env.XDG_CONFIG_HOME ?? '', 'svc', 'contexts.json'), 'utf8')
    expect(JSON.parse(file).contexts.moving).toEqual({ server: 'http://127.0.0.1:9' })
    expect(await svc(['config', 'remove', 'moving'])).toMatchObject({ code: 0 })
  })

  it('are ignored where this machine’s service is named', async () => {
    expect(await svc(['--context', 'local', 'status'])).toMatchObject({ code: 3 })
    expect(await svc(['status'], { SVC_CONTEXT: 'local' })).toMatchObject({ code: 3 })
    expect(existsSync(join(home, 'share'))).toBe(false)
  })

  it('refuse no output format except where it would hide the only copy of a new token', async () => {
    for (const output of ['name', 'jsonpath={.id}'])
      expect(await svc(['token', 'create', 'ci', '-o', output])).toMatchObject({ code: 2, stdout: '' })
    expect((await service.call<{ items: object[] }>('GET', '/api/v1/tokens')).body.items).toEqual([])
  })
})
