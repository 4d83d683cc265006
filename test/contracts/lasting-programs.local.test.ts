// Programs that a command has left in a workspace of this machine: how long they go on, and what they can reach meanwhile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { CommandState, WorkspaceClaim, WorkspaceCommand } from '../../src/ports/workspaces/execution-workspaces.ts'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findControlGroups } from '../../src/runtime/local/confinement/control-groups.ts'
import type {
  LocalWorkspaces,
  LocalWorkspacesOptions,
} from '../../src/runtime/local/execution-workspaces/workspaces.ts'
import { findPort } from '../fixtures/free-port.ts'
import { waitFor } from '../fixtures/time.ts'
import { findProcesses, makeFolder, removeFolder } from './embedded-bench.ts'
import { openLocalWorkspaces } from './local-workspaces-bench.ts'

const probe = await probeBubblewrap()
const { controllers } = await findControlGroups()
const roots: string[] = []
afterAll(() => {
  for (const root of roots) removeFolder(root)
})

function makeRoot(): string {
  const root = makeFolder('lasting')
  roots.push(root)
  return root
}

let count = 0

/** In the command line of all that a test starts. */
function nameMark(): string {
  count += 1
  return `mark-${process.pid}-${count}`
}

type EndedCommand = Extract<CommandState, { phase: 'Ended' }>
type Opened = { workspaces: LocalWorkspaces; claim: WorkspaceClaim; look(script: string): ReturnType<typeof finish> }

async function open(changes: Partial<LocalWorkspacesOptions> = {}): Promise<Opened> {
  const workspaces = openLocalWorkspaces(makeRoot(), changes)
  const template = { namespace: 'default', name: 'default' }
  const claim = { namespace: 'default', name: 'svc-ws-lasting', template, labels: {} }
  await ready({ workspaces, claim })
  /** As people do. */
  const look = async (script: string) => {
    count += 1
    const command = { id: `looks-${count}`, command: ['sh', '-c', script], env: {} }
    await workspaces.start(claim, { ...command, timeoutSeconds: 60, maxOutputBytes: 100_000 })
    return finish({ workspaces, claim }, command.id)
  }
  return { workspaces, claim, look }
}

async function ready({ workspaces, claim }: Pick<Opened, 'workspaces' | 'claim'>): Promise<void> {
  await workspaces.claim(claim)
  await workspaces.waitUntilReady(claim, { timeoutMs: 10_000, signal: AbortSignal.timeout(10_000) })
}

async function start({ workspaces, claim }: Opened, script: string, changes: Partial<WorkspaceCommand> = {}) {
  count += 1
  const limits = { env: {}, timeoutSeconds: 60, maxOutputBytes: 100_000 }
  const id = `leaves-${count}`
  await workspaces.start(claim, { id, command: ['sh', '-c', script], ...limits, leavesPrograms: true, ...changes })
  return id
}

const finish = ({ workspaces, claim }: Pick<Opened, 'workspaces' | 'claim'>, id: string): Promise<EndedCommand> =>
  waitFor(async () => {
    const state = await workspaces.observeCommand(claim, id)
    return state.phase === 'Ended' && state
  }, `the command ${id} to end`)

const leave = async (opened: Opened, script: string, changes?: Partial<WorkspaceCommand>) =>
  finish(opened, await start(opened, script, changes))

const serve = (port: number, mark: string) =>
  `node -e "require('http').createServer((_, answer) => answer.end('told')).listen(${port}, '127.0.0.1')" ${mark} & while ! ${ask(port)}; do sleep 0.05; done`
const ask = (port: number) =>
  `node -e "fetch('http://127.0.0.1:${port}').then((a) => a.text()).then(console.log, () => process.exit(1))"`

describe.skipIf(!probe.available)('programs that a command leaves in a workspace of this machine', () => {
  it('answer the commands after it, and read nothing of what those hold', async () => {
    const opened = await open()
    const { workspaces, look } = opened
    const [port, mark] = [await findPort(), nameMark()]
    const spy = 'while :; do cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline >>seen 2>/dev/null; sleep 0.02; done'
    expect(await leave(opened, `${serve(port, mark)}; (${spy}) & echo ${mark}`)).toMatchObject({ exitCode: 0 })
    expect((await look(ask(port))).stdout).toBe('told\n')
    const holds = await start(opened, 'for i in $(seq 20); do sleep 0.02; done', { env: { HELD: 'made-up-secret' } })
    await finish(opened, holds)
    const seen = (await look('tr "\\0" "\\n" <seen')).stdout
    expect(seen).toContain('PATH=')
    expect(seen).not.toContain('made-up-secret')
    await workspaces.close()
    expect(findProcesses(mark)).toEqual([])
  })

  it('may print what they like, which nobody keeps', async () => {
    const opened = await open()
    const later = 'sleep 0.3; head -c 2000000 /dev/zero | tr "\\0" x; echo more >&2; echo done >done'
    const left = await leave(opened, `(${later}) & head -c 50000 /dev/zero | tr "\\0" y`)
    expect(left).toMatchObject({ exitCode: 0, stdout: 'y'.repeat(50_000), stderr: '', truncated: false })
    await waitFor(async () => (await opened.look('cat done')).exitCode === 0, 'the program to have printed')
    await opened.workspaces.close()
  })

  it('take their sandbox with them when the last of them has ended', async () => {
    const opened = await open()
    const mark = nameMark()
    await leave(opened, `(while [ ! -e go ]; do sleep 0.02; done) & echo ${mark}`)
    expect(findProcesses(mark)).not.toEqual([])
    await opened.look(': >go')
    await waitFor(() => findProcesses(mark).length === 0, 'the sandbox to end')
    await opened.workspaces.close()
  })

  const ends: [how: string, end: (opened: Opened, id: string) => Promise<unknown>][] = [
    ['stopped', ({ workspaces, claim }, id) => workspaces.stop(claim, id)],
    ['scrubbed', ({ workspaces, claim }) => workspaces.scrub(claim, [])],
    ['suspended', ({ workspaces, claim }) => workspaces.suspend(claim)],
    ['deleted', ({ workspaces, claim }) => workspaces.delete(claim)],
    ['closed with the service', ({ workspaces }) => workspaces.close()],
  ]
  it.each(ends)('are gone once they are %s', async (_how, end) => {
    const opened = await open()
    const mark = nameMark()
    const stubborn = `setsid sh -c "trap '' TERM; while :; do sleep 0.05; done" ${mark}`
    const id = await start(opened, `${stubborn} & echo ${mark}`)
    await finish(opened, id)
    expect(findProcesses(mark)).not.toEqual([])
    await end(opened, id)
    expect(findProcesses(mark)).toEqual([])
    await opened.workspaces.close()
  })

  it('stay when the workspace is scrubbed around them', async () => {
    const opened = await open()
    const { workspaces, claim, look } = opened
    const [port, mark] = [await findPort(), nameMark()]
    await leave(opened, `${serve(port, mark)}; mkdir private`)
    await workspaces.scrub(claim, ['private'], { keepsPrograms: true })
    await workspaces.scrub(claim, ['private'], { keepsPrograms: true })
    expect((await look(`ls -d private; ${ask(port)}`)).stdout).toBe('told\n')
    await workspaces.close()
  })

  it('end with a command whose time is up, and with one that is stopped while it runs', async () => {
    const opened = await open()
    const mark = nameMark()
    const late = await leave(opened, `sleep 600 & sleep 601; echo ${mark}`, { timeoutSeconds: 1 })
    expect(late).toMatchObject({ exitCode: 124 })
    expect(findProcesses(mark)).toEqual([])
    const id = await start(opened, `trap 'echo bye; exit 3' TERM; sleep 600 & : >begun; wait; echo ${mark}`)
    await waitFor(async () => (await opened.look('cat begun')).exitCode === 0, 'the command to run')
    await opened.workspaces.stop(opened.claim, id)
    expect(await finish(opened, id)).toMatchObject({ exitCode: 3, stdout: 'bye\n' })
    expect(findProcesses(mark)).toEqual([])
    await opened.workspaces.close()
  })

  it('end with their workspace when they write more than it holds', async () => {
    const opened = await open({ size: { bytes: 16 * 1024 ** 2, files: 1000 } })
    const mark = nameMark()
    const flood = 'for i in $(seq 1000); do head -c 1000000 /dev/zero >f$i; done'
    await leave(opened, `(while [ ! -e go ]; do sleep 0.02; done; ${flood}; sleep 600) & echo ${mark}`)
    await opened.look(': >go')
    await waitFor(() => findProcesses(mark).length === 0, 'the programs to be ended')
    await opened.workspaces.close()
  })

  it.skipIf(!controllers.includes('pids'))('count towards the processes of the workspace as a whole', async () => {
    const opened = await open({ processes: 64 })
    const mark = nameMark()
    const many = 'for i in $(seq 30); do sleep 600 & done'
    expect(await leave(opened, `${many}; echo ${mark}`)).toMatchObject({ exitCode: 0 })
    const more = await leave(opened, `${many}; echo ${mark}`)
    expect(more.exitCode).not.toBe(0)
    expect(more.stderr).toMatch(/fork/i)
    await opened.workspaces.close()
  })

  it.skipIf(!controllers.includes('memory'))('count towards its memory', async () => {
    const opened = await open({ memoryBytes: 256 * 1024 ** 2 })
    const mark = nameMark()
    const take = 'globalThis.taken = Buffer.alloc(180e6, 1)'
    expect(await leave(opened, `node -e "${take}"`)).toMatchObject({ exitCode: 0 })
    const hold = `${take}; require('fs').writeFileSync('held', ''); setTimeout(() => 0, 6e5)`
    await leave(opened, `node -e "${hold}" ${mark} & while [ ! -e held ]; do sleep 0.05; done`)
    const { exitCode } = await leave(opened, `node -e "${take}"`)
    // The kernel takes one of the two.
    if (exitCode === 0) await waitFor(() => findProcesses(mark).length === 0, 'the program to be ended')
    else expect(exitCode).toBe(137)
    await opened.workspaces.close()
  })

  it('are not left behind by a service that is killed', async () => {
    const mark = nameMark()
    const program = join(import.meta.dirname, '..', 'fixtures', 'workspaces', 'leave-program.ts')
    const script = `setsid sleep 600 & setsid sh -c 'while :; do sleep 1; done' ${mark} & echo ${mark}`
    const service = spawn(process.execPath, [program, makeRoot(), script], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(service.stdout, 'data')
    const left = findProcesses(mark).filter((pid) => pid !== service.pid)
    expect(left).not.toEqual([])
    service.kill('SIGKILL')
    await once(service, 'exit')
    await waitFor(() => findProcesses(mark).length === 0, 'nothing to be left')
  })
})
