import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isSvcError } from '../../errors.ts'
import { isUnreaped, readStartTime } from '../../lib/process-stat.ts'
import { createEmbeddedLeadership, findHolder } from './leadership.ts'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-lock-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

const never = new AbortController().signal
const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
const startTime = await readStartTime(process.pid)
const lock = () => join(dataDir, 'service.lock')
const stale = JSON.stringify({ pid: 1, boot: 'another', startTime: '1' })
/** The lock of whoever removes a lock with this content. */
const guard = (content: string) => `${lock()}.${createHash('sha256').update(content).digest('hex').slice(0, 16)}`

describe('the lock of the data folder', () => {
  it('is held by one service, and a second one is told the pid of the first', async () => {
    const first = createEmbeddedLeadership({ dataDir })
    const signal = await first.acquire(never)
    const error = await createEmbeddedLeadership({ dataDir })
      .acquire(never)
      .catch((thrown: unknown) => thrown)
    expect(isSvcError(error, 'Conflict')).toBe(true)
    expect(error).toHaveProperty('message', expect.stringMatching(new RegExp(`pid ${process.pid}\\).*--data-dir`)))
    expect(signal.aborted).toBe(false)
  })

  it('can be acquired again by the service that holds it', async () => {
    const leadership = createEmbeddedLeadership({ dataDir })
    expect(await leadership.acquire(never)).toBe(await leadership.acquire(never))
  })

  it('is free after its release, which also ends the leadership', async () => {
    const first = createEmbeddedLeadership({ dataDir })
    const signal = await first.acquire(never)
    first.requireTerm()
    await first.release()
    expect(signal.aborted).toBe(true)
    expect(first.requireTerm).toThrow('does not hold the lock')
    expect(readdirSync(dataDir)).toEqual([])
    expect((await createEmbeddedLeadership({ dataDir }).acquire(never)).aborted).toBe(false)
  })

  it.each([
    ['a process that is gone', { pid: spawnSync(process.execPath, ['-e', '']).pid, boot, startTime: '1' }],
    ['a pid that another process has now', { pid: process.pid, boot, startTime: '1' }],
    ['an earlier release in a container that was replaced', { pid: process.pid, host: 'another-host', startTime: '1' }],
    ['a process of the machine before it was started again', { pid: process.pid, boot: 'another', startTime }],
  ])('left by %s is taken over', async (_who, holder) => {
    writeFileSync(lock(), JSON.stringify(holder))
    await createEmbeddedLeadership({ dataDir }).acquire(never)
    expect(JSON.parse(readFileSync(lock(), 'utf8'))).toEqual({ pid: process.pid, boot, startTime })
    expect(readdirSync(dataDir)).toEqual(['service.lock'])
  })

  it.each([
    ['a service', { boot }],
    ['a service of an earlier release', {}],
  ])('is still held by %s after the machine was renamed', async (_who, more) => {
    writeFileSync(lock(), JSON.stringify({ pid: process.pid, host: 'the-name-before', startTime, ...more }))
    const error = await createEmbeddedLeadership({ dataDir })
      .acquire(never)
      .catch((thrown: unknown) => thrown)
    expect(isSvcError(error, 'Conflict')).toBe(true)
    expect(await findHolder(dataDir)).toMatchObject({ pid: process.pid })
  })

  it('left by a process that has ended but has not been reaped is taken over', async () => {
    // The shell becomes a program that never asks after its child, and the child ends only then.
    const child = 'while read -r name < /proc/$PPID/comm; [ "$name" != sleep ]; do :; done'
    const script = `/bin/sh -c '${child}' & echo $!; exec sleep 60`
    const parent = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)))
      await expect.poll(() => isUnreaped(pid)).toBe(true)
      const holder = { pid, boot, startTime: await readStartTime(pid) }
      writeFileSync(lock(), JSON.stringify(holder))
      expect((await createEmbeddedLeadership({ dataDir }).acquire(never)).aborted).toBe(false)
    } finally {
      parent.kill('SIGKILL')
    }
  })

  it.each(['', 'garbage', 'null'])('with the content %j is taken over', async (content) => {
    writeFileSync(lock(), content)
    expect((await createEmbeddedLeadership({ dataDir }).acquire(never)).aborted).toBe(false)
  })

  it('is taken by exactly one of many services that start at once over a stale lock, however often', async () => {
    for (let round = 0; round < 40; round++) {
      writeFileSync(lock(), stale)
      const starters = Array.from({ length: 12 }, () => createEmbeddedLeadership({ dataDir }).acquire(never))
      const outcomes = await Promise.allSettled(starters)
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const refusals = outcomes.filter((outcome) => outcome.status === 'rejected')
      expect(refusals.every(({ reason }) => isSvcError(reason, 'Conflict'))).toBe(true)
      expect(readdirSync(dataDir)).toEqual(['service.lock'])
    }
  })

  it('is not taken while another process removes the stale one', async () => {
    writeFileSync(lock(), stale)
    writeFileSync(guard(stale), JSON.stringify({ pid: process.pid, boot, startTime }))
    let hasIt = false
    const acquiring = createEmbeddedLeadership({ dataDir }).acquire(never)
    void acquiring.then(() => {
      hasIt = true
    })
    await sleep(100)
    expect(hasIt).toBe(false)
    expect(readFileSync(lock(), 'utf8')).toBe(stale)
    rmSync(guard(stale))
    expect((await acquiring).aborted).toBe(false)
  })

  it('is taken where a process ended while it removed the stale one, and nothing of that is left', async () => {
    const ended = JSON.stringify({ pid: 1, boot: 'another', startTime: '2' })
    writeFileSync(lock(), stale)
    writeFileSync(guard(stale), ended)
    expect((await createEmbeddedLeadership({ dataDir }).acquire(never)).aborted).toBe(false)
    expect(readdirSync(dataDir)).toEqual(['service.lock'])
  })

  it('is created together with a missing data folder, unless the caller has given up', async () => {
    const aborted = AbortSignal.abort(new Error('no more'))
    await expect(createEmbeddedLeadership({ dataDir: join(dataDir, 'new') }).acquire(aborted)).rejects.toThrow(
      'no more',
    )
    expect(existsSync(join(dataDir, 'new'))).toBe(false)
    await createEmbeddedLeadership({ dataDir: join(dataDir, 'new') }).acquire(never)
    expect(existsSync(join(dataDir, 'new', 'service.lock'))).toBe(true)
  })
})
