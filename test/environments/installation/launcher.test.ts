// How the service hangs on what started it, and what it leaves when either is killed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { waitFor } from '../../fixtures/time.ts'
import {
  createTask,
  environmentOf,
  findProcesses,
  launcher,
  launchSvc,
  makeFolder,
  removeFolder,
  runSvc,
  startService,
  waitForPhase,
} from '../../scenarios/service.ts'

const folders: string[] = []
const open = () => {
  const folder = makeFolder()
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) removeFolder(folder)
})

/** A Node that is too old for the service, whose launcher starts the packaged one. */
const oldNode = '/usr/bin/node'
const version = existsSync(oldNode) ? execFileSync(oldNode, ['--version'], { encoding: 'utf8' }) : 'none'
const isOld = Number(/^v(\d+)/.exec(version)?.[1] ?? 99) < 24

const end = (child: ChildProcess, signal: NodeJS.Signals) =>
  new Promise((resolve) => {
    child.once('exit', resolve)
    child.kill(signal)
  })

describe('a launcher that is killed', () => {
  it.skipIf(!isOld)(
    `takes the service with it, and the next start succeeds (old Node: ${version.trim()})`,
    async () => {
      const folder = open()
      const ready = join(folder, 'ready.json')
      const child = spawn(oldNode, [launcher, 'up', '--port', '0', '--ready-file', ready], {
        env: environmentOf(folder),
        stdio: 'ignore',
      })
      await waitFor(() => existsSync(ready), 'the service to be ready')
      expect(findProcesses(ready).length).toBeGreaterThan(1)
      await end(child, 'SIGKILL')
      await waitFor(() => findProcesses(ready).length === 0, 'the service to be gone')
      const next = await startService({ folder })
      await next.stop()
    },
  )
})

describe('the launcher', () => {
  it('gives the service the same rights wherever `up` and `doctor` stand on the command line', async () => {
    const folder = open()
    const workspaces = async (...words: string[]) => {
      const { stdout } = await launchSvc([...words, '-o', 'json'], environmentOf(folder))
      return (JSON.parse(stdout) as { what: string }[]).find(({ what }) => what === 'workspaces')
    }
    const data = ['--data-dir', join(folder, 'data')]
    expect(await workspaces(...data, 'doctor')).toEqual(await workspaces('doctor', ...data))
  })
})

describe('a service that is killed', () => {
  it('and not reaped does not keep the lock of the folder', async () => {
    const folder = open()
    const ready = join(folder, 'ready.json')
    const command = `"${process.execPath}" "${launcher}" up --port 0 --ready-file "${ready}" & echo $!; exec sleep 600`
    const parent = spawn('/bin/sh', ['-c', command], {
      env: environmentOf(folder),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)))
      await waitFor(() => existsSync(ready), 'the service to be ready')
      process.kill(pid, 'SIGKILL')
      await waitFor(() => /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8')), 'it to be dead')
      const next = await startService({ folder })
      expect((await runSvc(['down'], next.env)).code).toBe(0)
    } finally {
      parent.kill('SIGKILL')
    }
  })

  it('leaves no mount and no loop device of its workspaces', async () => {
    const folder = open()
    const service = await startService({ folder })
    await createTask(service, 'busy', { type: 'container', command: ['sleep', '600'] })
    await waitForPhase(service, 'busy', 'Running')
    await service.kill()
    const readLoops = () =>
      execFileSync('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], { encoding: 'utf8' })
    await waitFor(() => !readLoops().includes(folder), 'the loop devices to be free')
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(folder)
    const next = await startService({ folder })
    await next.stop()
  })
})
