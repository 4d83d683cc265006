// A backup that is taken while the service works is whole: what was acknowledged before it is there after a restore.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  createTask,
  getTask,
  launchSvc,
  makeFolder,
  readResult,
  removeFolder,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const home = makeFolder()
const other = makeFolder()
afterAll(() => {
  for (const folder of [home, other]) removeFolder(folder)
})

const body = 'x'.repeat(100_000)
const big = { type: 'container', command: ['/bin/sh', '-c', `head -c ${body.length} /dev/zero | tr '\\0' x`] }

/** Creates and removes tasks until it is told to stop; results of this size are files of their own. */
function keepBusy(service: Service) {
  const state = { isOver: false, rounds: 0 }
  const work = (async () => {
    for (; !state.isOver; state.rounds++) {
      const name = `busy-${state.rounds}`
      await createTask(service, name, big)
      await waitForPhase(service, name, 'Succeeded')
      await service.call('DELETE', `/api/v1/tasks/${name}`)
    }
  })()
  const stop = async () => {
    state.isOver = true
    await work
    return state.rounds
  }
  return { stop }
}

describe('a backup of a running service', () => {
  it('is taken under load, and a restore gives back what was acknowledged before it [PLAT-005]', async () => {
    const service = await startService({ folder: home })
    await createTask(service, 'kept', big)
    await waitForPhase(service, 'kept', 'Succeeded')
    const secret = { name: 'sealed', stringData: { word: 'opened-again' } }
    expect((await service.call('POST', '/api/v1/secrets', secret)).status).toBe(201)
    const load = keepBusy(service)
    const target = join(other, 'backup')
    const taken = await launchSvc(['backup', target, '--with-key'], service.env)
    expect(taken).toMatchObject({ code: 0, stdout: expect.stringContaining('1 secrets') })
    await createTask(service, 'later', big)
    await load.stop()
    expect(readdirSync(target).sort()).toEqual(['backup.json', 'blobs', 'logs', 'secret.key', 'svc.db'])
    expect(
      [target, join(target, 'svc.db'), join(target, 'secret.key')].map((path) => statSync(path).mode & 0o077),
    ).toEqual([0, 0, 0])

    const env = { ...service.env, XDG_DATA_HOME: join(other, 'share'), XDG_CONFIG_HOME: join(other, 'config') }
    expect(await launchSvc(['restore', target], env)).toMatchObject({ code: 0 })
    const restored = await startService({ folder: other, env })
    expect(await readResult(restored, 'kept')).toBe(body)
    const echo = {
      type: 'container',
      command: ['/bin/sh', '-c', 'test "$WORD" = opened-again && echo right'],
      env: [{ name: 'WORD', valueFrom: { secretKeyRef: { name: 'sealed', key: 'word' } } }],
    }
    await createTask(restored, 'opens', echo)
    await waitForPhase(restored, 'opens', 'Succeeded')
    expect((await restored.call('GET', '/api/v1/tasks/later')).status).toBe(404)
    // The service that was backed up goes on.
    expect((await waitForPhase(service, 'later', 'Succeeded')).metadata.name).toBe('later')
    await restored.stop()

    const again = await launchSvc(['restore', target, '--replace'], service.env)
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('the previous content is in') })
    const replaced = await startService({ folder: home })
    expect((await getTask(replaced, 'kept')).status?.phase).toBe('Succeeded')
    expect((await replaced.call('GET', '/api/v1/tasks/later')).status).toBe(404)
    await replaced.stop()
  })

  it('says what is wrong instead of doing half of it', async () => {
    const backup = join(other, 'backup')
    const env = { PATH: process.env.PATH, HOME: join(other, 'empty') }
    const fails = async (args: string[], words: RegExp) => {
      const { code, stderr } = await launchSvc(args, env)
      expect([code === 0, stderr]).toEqual([false, expect.stringMatching(words)])
    }
    await fails(['backup', join(other, 'none')], /no store in .*--data-dir/)
    await fails(['restore', join(other, 'none')], /no whole backup/)
    const full = join(other, 'full')
    mkdirSync(full)
    writeFileSync(join(full, 'mine'), 'x')
    await fails(['restore', backup, '--data-dir', full], /not empty.*--replace/)
    expect(readdirSync(full)).toEqual(['mine'])
    const fresh = join(other, 'fresh')
    const config = join(other, 'config-of-another')
    mkdirSync(config)
    writeFileSync(join(config, 'secret.key'), 'another key', { mode: 0o600 })
    await fails(['restore', backup, '--data-dir', fresh, '--config-dir', config], /another key.*--secret-key-file/)
    expect(existsSync(join(fresh, 'svc.db'))).toBe(false)
    const blobs = join(backup, 'blobs')
    const bodies = readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
    rmSync(blobs, { recursive: true })
    const damaged = new RegExp(`damaged: ${bodies} of its bodies`)
    await fails(['restore', backup, '--data-dir', join(other, 'fresh2')], damaged)
    const database = readFileSync(join(backup, 'svc.db'))
    writeFileSync(join(backup, 'svc.db'), database.subarray(0, database.length / 2))
    await fails(['restore', backup, '--data-dir', join(other, 'fresh3')], /not a sound database/)
  })
})
