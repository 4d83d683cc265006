// The network of programs in workspaces that are folders of this machine: the gate of their attempt, which ends with it.
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NetworkSource } from '../../src/contract/kinds/tasks/network.ts'
import type { WorkspaceClaim } from '../../src/ports/workspaces/execution-workspaces.ts'
import type { GatedAttempt, NetworkGates } from '../../src/ports/workspaces/network-gates.ts'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findPort } from '../fixtures/free-port.ts'
import { readOfProcess } from '../fixtures/processes.ts'
import { waitFor } from '../fixtures/time.ts'
import { openWorkspaceService, specOf } from '../fixtures/workspaces/service.ts'
import { findProcesses, makeFolder, removeFolder } from './embedded-bench.ts'
import { openLocalWorkspaces } from './local-workspaces-bench.ts'
import type { RecordBench } from './record-bench.ts'
import { openSqliteBench } from './sqlite-bench.ts'

const probe = await probeBubblewrap()
const root = makeFolder('network')
const folder = makeFolder('gate')
const template = { namespace: 'default', name: 'default' }
/** What it was given, and whether it has the socket of its gate. */
const script = `gzip -dc | grep -o '"network":{[^}]*}' >given; [ -S /run/svc-network/gate ] && echo gate >>given; mv given done; sleep 600`
const server = createServer().listen(join(folder, 'gate'))
const rules = { allow: [], onUnknown: 'refuse' as const, ports: [443] }
const opened: GatedAttempt[] = []
const closed: string[] = []
const gates: NetworkGates = {
  async open(attempt) {
    opened.push(attempt)
    return {
      socket: join(folder, 'gate'),
      accept: () => undefined,
      close: async () => void closed.push(attempt.key.taskUid),
    }
  },
}
const checkout = join(import.meta.dirname, '..', '..')
const workspaces = openLocalWorkspaces(root, {
  gates,
  binds: [{ source: checkout, target: checkout }],
  worker: ['/bin/sh', '-c', `cd /workspace && ${script}`],
})
const providers = { 'agent-sandbox': workspaces } as const
let store: RecordBench

beforeAll(async () => {
  store = await openSqliteBench()
})
afterAll(async () => {
  await workspaces.close()
  await store.close()
  server.close()
  removeFolder(root)
  removeFolder(folder)
})

describe.skipIf(!probe.available)('the worker in a workspace of this machine', () => {
  it.each<[NetworkSource, boolean]>([
    ['task', true],
    ['agent', true],
    ['namespace', true],
    ['service', false],
  ])('has the gate of its attempt for a network of the %s, required: %s', async (from, isRequired) => {
    const { workspaces: records } = store.stores()
    const service = openWorkspaceService({ providers, records, endsOnClose: true, findSecrets: async () => [] })
    const key = { taskUid: `uid-${from}`, attempt: 1 }
    const names = { taskUid: key.taskUid, taskName: from, namespace: 'team', token: 'made-up-token' }
    const claim = { namespace: 'default', name: `svc-ws-${from}` }
    const spec = specOf({ provider: 'agent-sandbox', claim, template, ...names })
    await service.ensure({ ...spec, network: { from, rules } })
    const file = join(root, 'default', claim.name, 'files', 'done')
    await waitFor(() => existsSync(file), 'the worker to have begun')
    const network = `"network":{"socket":"/run/svc-network/gate","isRequired":${isRequired}}`
    expect(readFileSync(file, 'utf8')).toBe(`${network}\ngate\n`)
    expect(opened.pop()).toEqual({ key, namespace: 'team', taskName: from, rules })
    expect(closed).not.toContain(key.taskUid)
    await service.remove(key)
    expect(closed).toContain(key.taskUid)
  })

  it('has none where its network is that of the machine', async () => {
    const { workspaces: records } = store.stores()
    const service = openWorkspaceService({ providers, records, endsOnClose: true, findSecrets: async () => [] })
    const names = { taskUid: 'uid-open', taskName: 'open', namespace: 'team', token: 'made-up-token' }
    const claim = { namespace: 'default', name: 'svc-ws-open' }
    await service.ensure(specOf({ provider: 'agent-sandbox', claim, template, ...names }))
    const file = join(root, 'default', claim.name, 'files', 'done')
    await waitFor(() => existsSync(file), 'the worker to have begun')
    expect([readFileSync(file, 'utf8'), opened]).toEqual(['', []])
    await service.remove({ taskUid: 'uid-open', attempt: 1 })
  })

  const attempt = { key: { taskUid: 'uid-left', attempt: 1 }, namespace: 'team', taskName: 'left', rules }
  const limits = { env: {}, timeoutSeconds: 60, maxOutputBytes: 1000 }
  const ended = (claim: WorkspaceClaim, id: string) =>
    waitFor(async () => {
      const state = await workspaces.observeCommand(claim, id)
      return state.phase === 'Ended' && state.stdout.trim()
    }, `${id} has ended`)

  async function openClaim(name: string): Promise<WorkspaceClaim> {
    const claim = { namespace: 'default', name, template, labels: {} }
    await workspaces.claim(claim)
    await workspaces.waitUntilReady(claim, { timeoutMs: 10_000, signal: AbortSignal.timeout(10_000) })
    return claim
  }

  it('reaches no network through what another attempt has left there', async () => {
    const claim = await openClaim('svc-ws-left')
    const mark = `mark-of-network-${process.pid}`
    // Those who have started it name it as well, and end at some moment after it has begun.
    const programs = () => findProcesses(mark).filter((pid) => readOfProcess(pid, 'cmdline').startsWith('tail\0'))
    const leave = async (id: string, network: object) => {
      const before = programs()
      const command = ['sh', '-c', `tail -f /dev/null ${mark} >/dev/null 2>&1 & echo left`]
      await workspaces.start(claim, { id, command, ...limits, leavesPrograms: true, ...network })
      await ended(claim, id)
      const isNew = (pid: number) => !before.includes(pid)
      return waitFor(() => programs().some(isNew) && programs(), 'what is left to have begun')
    }
    const open = await leave('open', {})
    const left = await leave('first', { network: attempt })
    expect(left.filter((pid) => open.includes(pid))).toEqual([])
    // What has no network but a gate that is closed goes on.
    const more = await leave('second', { network: attempt })
    expect(more).toEqual(expect.arrayContaining(left))
    await workspaces.delete(claim)
    expect(findProcesses(mark)).toEqual([])
  })

  it('leaves programs without a network', async () => {
    const claim = await openClaim('svc-ws-forwarder')
    const [port, mark] = [await findPort(), `mark-of-forwarder-${process.pid}`]
    const command = ['node', join(checkout, 'test', 'fixtures', 'network', 'inner-program.ts'), String(port)]
    const stdin = Buffer.from(`sh -c 'while :; do sleep 0.1; done' ${mark} >/dev/null 2>&1 & echo left`)
    const worker = { command, stdin, ...limits, leavesPrograms: true, network: attempt }
    await workspaces.start(claim, { id: 'leaves', ...worker })
    await ended(claim, 'leaves')
    // What has been started with it names its ports as well, and more after them.
    const isForwarder = (pid: number) => /"}\0\d+\0$/.test(readOfProcess(pid, 'cmdline'))
    await waitFor(() => !findProcesses(`{"${port}":`).some(isForwarder), 'its forwarder has ended')
    expect(findProcesses(mark)).not.toEqual([])
    await workspaces.delete(claim)
  })

  it('limits commands of people as well, until one with the network of the machine comes', async () => {
    const claim = await openClaim('svc-ws-people')
    // Loopback is there in any case.
    const command = ['sh', '-c', 'wc -l </proc/net/dev; echo "$https_proxy"']
    const look = async (id: string, changes: object = {}) => {
      await workspaces.start(claim, { id, command, ...limits, ...changes })
      return ended(claim, id)
    }
    const machine = await look('first')
    await look('worker', { network: attempt, leavesPrograms: true })
    expect(await look('limited')).toBe('3\nhttp://127.0.0.1:3128')
    expect(closed.filter((uid) => uid === 'uid-left').length).toBeGreaterThan(1)
    await workspaces.suspend(claim)
    await openClaim(claim.name)
    expect(await look('resumed')).toBe('3\nhttp://127.0.0.1:3128')
    expect(await look('none', { network: 'none' })).toBe('3')
    await look('open', { leavesPrograms: true })
    expect(await look('last')).toBe(machine)
    await workspaces.delete(claim)
  })
})
