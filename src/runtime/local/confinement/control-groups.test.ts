import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findControlGroups } from './control-groups.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-groups-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** A folder that stands for the kernel's: plain files, so that only what is written where can be seen. */
function lay(files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}
const read = (path: string) => readFileSync(join(folder, path), 'utf8')
const find = () => {
  const [mount, membership] = [join(folder, 'mount'), join(folder, 'membership')]
  return findControlGroups({ mount, membership, delegated: join(folder, 'delegated') })
}

describe('control groups of version 1', () => {
  it('are created below the group that the service has in each controller', async () => {
    lay({ membership: '9:name=systemd:/\n5:memory:/mine\n4:pids:/\n3:cpu,cpuacct:/x\n2:devices:/\n0::/\n' })
    for (const own of ['memory/mine', 'pids', 'cpu,cpuacct/x'])
      mkdirSync(join(folder, 'mount', own), { recursive: true })
    const groups = await find()
    expect(groups.controllers.sort()).toEqual(['cpu', 'memory', 'pids'])
    const group = await groups.create('svc-1')
    expect(group?.folders.map((path) => path.slice(folder.length)).sort()).toEqual([
      '/mount/cpu,cpuacct/x/svc-1/main',
      '/mount/memory/mine/svc-1/main',
      '/mount/pids/svc-1/main',
    ])
  })

  it('get memory with swap, processes and a share of processor time', async () => {
    lay({ membership: '5:memory:/\n4:pids:/\n3:cpu:/\n' })
    for (const own of ['memory', 'pids', 'cpu']) mkdirSync(join(folder, 'mount', own), { recursive: true })
    const group = await (await find()).create('svc-1')
    lay({
      'mount/memory/svc-1/memory.limit_in_bytes': '',
      'mount/memory/svc-1/memory.memsw.limit_in_bytes': '',
      'mount/pids/svc-1/pids.max': '',
      'mount/cpu/svc-1/cpu.cfs_quota_us': '',
      'mount/cpu/svc-1/cpu.cfs_period_us': '',
      'mount/cpu/svc-1/cpu.shares': '',
    })
    await group?.setLimits({ memoryBytes: 1000, processes: 7, cpu: 1.5 })
    expect(read('mount/memory/svc-1/memory.limit_in_bytes')).toBe('1000')
    expect(read('mount/memory/svc-1/memory.memsw.limit_in_bytes')).toBe('1000')
    expect(read('mount/pids/svc-1/pids.max')).toBe('7')
    expect(read('mount/cpu/svc-1/cpu.cfs_quota_us')).toBe('150000')
    expect(read('mount/cpu/svc-1/cpu.shares')).toBe('335')
  })

  it('report kills for memory and refused forks', async () => {
    lay({ membership: '5:memory:/\n4:pids:/\n' })
    for (const own of ['memory', 'pids']) mkdirSync(join(folder, 'mount', own), { recursive: true })
    const group = await (await find()).create('svc-1')
    expect(await group?.readEvents()).toEqual({ memoryKills: 0, refusedForks: 0 })
    lay({
      'mount/memory/svc-1/main/memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n',
      'mount/pids/svc-1/main/pids.events': 'max 3\n',
    })
    expect(await group?.readEvents()).toEqual({ memoryKills: 2, refusedForks: 3 })
  })
})

describe('control groups of version 2', () => {
  const enabled = { 'mount/own/cgroup.subtree_control': 'cpu memory pids\n', 'mount/own/cgroup.procs': '' }

  it('are one folder for all controllers, with limits above the processes', async () => {
    lay({ membership: '0::/own\n', ...enabled })
    const group = await (await find()).create('svc-1')
    expect(group?.folders).toEqual([join(folder, 'mount/own/svc-1/main')])
    const names = ['memory.max', 'memory.swap.max', 'pids.max', 'cpu.max', 'cpu.weight']
    lay(Object.fromEntries(names.map((name) => [`mount/own/svc-1/${name}`, ''])))
    await group?.setLimits({ memoryBytes: 1000, processes: 7, cpu: 0.5 })
    expect(names.map((name) => read(`mount/own/svc-1/${name}`))).toEqual(['1000', '0', '7', '50000 100000', '33'])
  })

  it('are not created where the service shares its group with other processes and no controller is enabled below it', async () => {
    lay({
      membership: '0::/own\n',
      'mount/own/cgroup.subtree_control': '',
      'mount/own/cgroup.procs': `1\n${process.pid}\n`,
    })
    // The kernel refuses to enable a controller here; this folder lets it be written, in a form that is not its answer.
    const groups = await find()
    expect(groups.controllers).toEqual([])
    expect(existsSync(join(folder, 'mount/own/svc-service'))).toBe(false)
    expect(await groups.create('svc-1')).toBeUndefined()
  })

  it('are enabled by moving the service into a leaf group when it is alone in its group', async () => {
    lay({ membership: '0::/own\n', ...enabled, 'mount/own/cgroup.procs': `${process.pid}\n` })
    lay({ 'mount/own/svc-service/cgroup.procs': '' })
    await find()
    expect(read('mount/own/svc-service/cgroup.procs')).toBe(String(process.pid))
  })
})

describe('control groups in general', () => {
  it('are created in folders delegated by an enclosing sandbox rather than in the group of the service', async () => {
    lay({ membership: '5:memory:/\n' })
    for (const path of ['mount/memory', 'delegated/pids', 'delegated/memory'])
      mkdirSync(join(folder, path), { recursive: true })
    const group = await (await find()).create('svc-1')
    expect(group?.folders.every((path) => path.startsWith(join(folder, 'delegated')))).toBe(true)
  })

  it('are not used where their files are missing or cannot be written', async () => {
    expect((await find()).controllers).toEqual([])
    lay({ membership: '5:memory:/not-mounted\n' })
    expect((await find()).controllers).toEqual([])
  })

  it('left by an earlier run of the service are removed by name, and others stay', async () => {
    lay({ membership: '4:pids:/\n' })
    for (const name of ['svc-a-1', 'svc-a-2', 'svc-b-1'])
      mkdirSync(join(folder, 'mount/pids', name, 'main'), { recursive: true })
    await (await find()).reap((name) => name.startsWith('svc-a-'))
    expect(readdirSync(join(folder, 'mount/pids'))).toEqual(['svc-b-1'])
  })
})
