import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import { waitFor } from '../../test/fixtures/time.ts'
import { loadConfig } from '../config/load.ts'
import { openLocalWork } from './embedded-work.ts'
import { defaultLimitsOf } from './settings.ts'

const records = { logs: { append: async () => {} } } as never
const parts = { records, checkouts: {} as never, log: pino({ level: 'silent' }) }

it('keeps as many workers waiting as are wanted', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-waiting-'))
  const config = loadConfig({ flags: { dataDir, waitingWorkers: '2' }, env: { XDG_CONFIG_HOME: dataDir } })
  const { workloads } = openLocalWork(config, parts)
  try {
    await workloads.warmUp()
    await waitFor(async () => (await workloads.status()).idleWorkers.length === 2, 'two to wait')
  } finally {
    await workloads.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

it.each([[], ['taskMemory', '3Gi'] as const])(
  'keeps workers waiting that can run a task without limits of its own (%s)',
  async (...given) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-waiting-'))
    const config = loadConfig({
      flags: { dataDir, ...Object.fromEntries([given].filter(([name]) => name !== undefined)) },
      env: { XDG_CONFIG_HOME: dataDir },
    })
    const { workloads } = openLocalWork(config, parts)
    const limits = defaultLimitsOf(config)
    let attempt = 0
    const start = () => {
      attempt += 1
      const run = { kind: 'worker', assignment: { task: { name: 'tested', type: 'ai' } } } as never
      return workloads.ensure({
        key: { taskUid: 'uid', attempt },
        namespace: 'default',
        taskName: 'tested',
        limits,
        run,
      })
    }
    const listPids = async () => (await workloads.status()).idleWorkers.map(({ pid }) => pid)
    try {
      await start()
      await vi.waitFor(async () => expect(await listPids()).not.toEqual([]), { timeout: 14_000 })
      const [waiting] = await listPids()
      await start()
      await vi.waitFor(async () => expect(await listPids()).not.toContain(waiting), { timeout: 14_000 })
    } finally {
      await workloads.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
  40_000,
)
