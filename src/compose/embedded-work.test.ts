import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { it } from 'vitest'
import { waitFor } from '../../test/fixtures/time.ts'
import { loadConfig } from '../config/load.ts'
import { openLocalWork } from './embedded-work.ts'
import { checkoutLimitsOf, defaultLimitsOf } from './settings.ts'

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

const checkout = { baseSHA: 'b'.repeat(40), close: async () => {} }
const repository = { checkout: { spec: { url: 'https://code.example/a' }, message: '' } }

it.each([
  ['without limits of its own', {}, {}],
  ['without limits of its own, whatever the setting is', { taskMemory: '3Gi' }, {}],
  ['in a repository', {}, repository],
])(
  'keeps workers waiting that can run a task %s',
  async (_what, flags, more) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-waiting-'))
    const config = loadConfig({ flags: { dataDir, ...flags }, env: { XDG_CONFIG_HOME: dataDir } })
    const checkouts = { prepare: async () => checkout } as never
    const { workloads } = openLocalWork(config, { ...parts, checkouts })
    const limits = { ...defaultLimitsOf(config), ...('checkout' in more && checkoutLimitsOf(config)) }
    let attempt = 0
    const start = () => {
      attempt += 1
      const run = { kind: 'worker', assignment: { task: { name: 'tested', type: 'ai' } } } as never
      const key = { taskUid: 'uid', attempt }
      return workloads.ensure({ key, namespace: 'default', taskName: 'tested', limits, run, ...more })
    }
    const listPids = async () => (await workloads.status()).idleWorkers.map(({ pid }) => pid)
    try {
      await start()
      const [waiting] = await waitFor(async () => {
        const pids = await listPids()
        return pids.length > 0 && pids
      }, 'one to wait')
      await start()
      await waitFor(async () => !(await listPids()).includes(waiting ?? 0), 'it to be taken')
    } finally {
      await workloads.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
  130_000,
)
