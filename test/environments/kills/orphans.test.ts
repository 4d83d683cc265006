// kill -9 of the service at moments from the first millisecond of its start to the end of its first task: no process outlives it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nodeInside } from '../../../src/runtime/attempts/process-limits.ts'
import { listPids, readOfProcess, showsFolder } from '../../fixtures/processes.ts'
import { pause, waitFor } from '../../fixtures/time.ts'
import { callAt, environmentOf, launcher, nodeFlags, root } from '../../scenarios/service.ts'

const rounds = Number(process.env.ORPHAN_ROUNDS ?? 10)
/** What no account of this machine is for. */
const plainUser = 64_321

/** Whether everybody may go there: a checkout in somebody's home is not for other users. */
function isOpen(path: string): boolean {
  const folder = dirname(path)
  return (statSync(path).mode & 0o1) !== 0 && (folder === path || isOpen(folder))
}

const isForAll = [root, dirname(launcher), process.execPath].every((path) => isOpen(realpathSync(path)))
const self = process.getuid?.() ?? 0
const users = self === 0 && isForAll ? [self, plainUser] : [self]

const folders: string[] = []
const started: ChildProcess[] = []
afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function makeHome(uid: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-orphans-'))
  folders.push(folder)
  chownSync(folder, uid, uid)
  return folder
}

/** What nobody is left for: half of a sandbox that was being set up, which shows nothing of the folder yet. */
function isHalf(pid: number, command: string): boolean {
  return (
    command.includes('bwrap') &&
    command.includes(dirname(dirname(launcher))) &&
    /^PPid:\t1$/m.test(readOfProcess(pid, 'status'))
  )
}

/** Those that name the folder, or are in a sandbox that shows something of it. */
function findRelated(folder: string): string[] {
  const mark = basename(folder)
  return listPids().flatMap((pid) => {
    const command = readOfProcess(pid, 'cmdline').replaceAll('\0', ' ')
    const names = command.includes(mark) || readOfProcess(pid, 'environ').includes(mark)
    return names || showsFolder(pid, folder) || isHalf(pid, command) ? [`${pid} ${command.slice(0, 200)}`] : []
  })
}

function start(uid: number) {
  const folder = makeHome(uid)
  const ready = join(folder, 'ready.json')
  // A cache of its own that is filled is more that could be left.
  const env = { ...environmentOf(folder), NODE_COMPILE_CACHE: undefined }
  const args = [...nodeFlags, launcher, 'up', '--port', '0', '--ready-file', ready]
  const child = spawn(process.execPath, args, { env, uid, gid: uid, stdio: 'ignore' })
  started.push(child)
  return { folder, ready, child, ended: once(child, 'exit') }
}

type Started = ReturnType<typeof start>

/** Until it succeeded, or the service is gone. What outlives the service must not end by itself before it is looked for. */
async function runTask({ folder, ready, child }: Started, seconds: number): Promise<string | undefined> {
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  await waitFor(() => existsSync(ready) || isOver(), 'the service is ready')
  if (isOver()) return undefined
  const service = JSON.parse(readFileSync(ready, 'utf8')) as { url: string; token: string }
  const spec = {
    type: 'container',
    command: ['bash', '-c', `sleep 0.2 & sleep ${seconds}; echo done # ${basename(folder)}`],
  }
  try {
    await callAt(service, 'POST', '/api/v1/tasks', { metadata: { name: 'first' }, spec })
    const look = async () =>
      (await callAt<{ status?: { phase?: string } }>(service, 'GET', '/api/v1/tasks/first')).body.status?.phase
    const isFinal = (phase = '') => (['Succeeded', 'Failed'].includes(phase) ? phase : undefined)
    return await waitFor(async () => isFinal(await look()), 'the task has ended')
  } catch (error) {
    if (isOver() || child.killed) return undefined
    throw error
  }
}

/** It stays for a while after its first task. */
async function startRunner({ ready }: Started): Promise<void> {
  const service = JSON.parse(readFileSync(ready, 'utf8')) as { url: string; token: string }
  await callAt(service, 'POST', '/api/v1/providers', { name: 'demo', spec: { type: 'demo' } })
  const ai = { providerRef: { name: 'demo' }, prompt: 'say done' }
  await callAt(service, 'POST', '/api/v1/tasks', { name: 'talks', type: 'ai', ai })
}

describe.each(users)('no process outlives the service, as user %i', (uid) => {
  it(`killed at ${rounds} moments of its first start and its first task`, async () => {
    const whole = start(uid)
    const begin = performance.now()
    expect(await runTask(whole, 0.1)).toBe('Succeeded')
    const spanMs = performance.now() - begin
    // The service, and the runner in its sandbox: what is looked for can be seen.
    await startRunner(whole)
    const isInSandbox = () => findRelated(whole.folder).some((line) => line.includes(` ${nodeInside} `))
    await waitFor(isInSandbox, 'a runner is there')
    whole.child.kill('SIGKILL')
    await whole.ended
    const offset = Math.random()
    const killed = [whole.folder]
    for (let round = 0; round < rounds; round += 1) {
      const next = start(uid)
      const work = runTask(next, 300)
      // Multiples of the golden ratio leave no wide gap.
      await pause(((offset + round / 1.618_033_988_75) % 1) * spanMs)
      next.child.kill('SIGKILL')
      await next.ended
      await work
      killed.push(next.folder)
    }
    for (const folder of killed) {
      let left: string[] = []
      const isClean = () => {
        left = findRelated(folder)
        return left.length === 0
      }
      await waitFor(isClean, 'nothing is left', 20_000).catch((error: unknown) => {
        throw new Error(`${error}: ${left.join('\n')}`)
      })
    }
  }, 300_000)
})
