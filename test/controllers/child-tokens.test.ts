// Runs of a schedule that is part of a transaction: each with a token of its own, or not at all.
import { afterEach, describe, expect, it } from 'vitest'
import { apiVersion } from '../../src/contract/kinds/resources/metadata.ts'
import { type ErrorReason, SvcError } from '../../src/errors.ts'
import type { ExchangeRequest } from '../../src/ports/identity/identity.ts'
import type { PropagationSettings } from '../../src/rules/identity/token-propagation.ts'
import { waitFor } from '../fixtures/time.ts'
import { type Bench, openBench } from './bench.ts'

let bench: Bench
afterEach(() => bench.dispose())

const minute = 60_000
const transaction = { profile: 'kontxt', id: 'txn-1', scope: 'a b', scopes: ['a', 'b'] }
const scheduled = { schedule: '*/5 * * * *', transaction }
const settings: PropagationSettings = { childScope: 'a', childTtlMs: 300_000, toolTtlMs: 120_000 }
const runName = `nightly-${Date.parse('2026-03-01T12:05:00Z') / 1000}`

type Options = { propagation?: PropagationSettings; fail?: () => ErrorReason | undefined }

async function open({ propagation = settings, fail }: Options = {}) {
  const asked: ExchangeRequest[] = []
  bench = await openBench({
    settings: { propagation },
    tokenExchange: {
      async exchange(request) {
        asked.push(request)
        const reason = fail?.()
        if (reason !== undefined) throw new SvcError(reason, `no token: ${reason}`)
        return { token: `token-${asked.length}-secret` }
      },
    },
  })
  return asked
}

async function tick(spec: object = {}, metadata: object = {}) {
  await bench.submitTask('nightly', { ...scheduled, ...spec }, metadata)
  await bench.phase('nightly', 'Scheduled')
  await bench.jump(5 * minute)
}

const listTokens = async () => (await bench.secrets.list()).filter(({ name }) => name.includes('-txn-'))
const eventsOf = async (name: string) => JSON.stringify(await bench.eventsOf(name))

describe('a run of a schedule in a transaction', () => {
  it('has a token of its own in a Secret that it owns, and its command can read it', async () => {
    const asked = await open()
    await tick()
    const run = await bench.running(runName)
    expect(asked).toEqual([
      {
        scope: 'a',
        ttlMs: 300_000,
        details: { operation: 'childTask', parentTask: 'nightly', namespace: 'default', txn: 'txn-1' },
      },
    ])
    const [secret] = await listTokens()
    expect(secret?.name).toMatch(/^nightly-txn-[0-9a-f]+-[0-9a-f]{10}$/)
    expect(secret).toMatchObject({ type: 'Opaque', keys: ['token'] })
    expect(secret?.annotations['svc.ai/owner-task-uid']).toBe(run.metadata.uid)
    expect(run.metadata.annotations?.['svc.ai/transaction-token-secret']).toBe(secret?.name)
    expect(run.spec.transaction).toEqual(transaction)
    expect(bench.workloads.specOf(runName).run).toMatchObject({
      transactionToken: 'token-1-secret',
      redact: ['token-1-secret'],
      env: { SVC_TRANSACTION_ID: 'txn-1', SVC_TRANSACTION_SCOPES: 'a,b' },
    })
    expect(JSON.stringify(run) + (await eventsOf(runName)) + (await eventsOf('nightly'))).not.toContain(
      'token-1-secret',
    )
  })

  it('has its Secret deleted with it', async () => {
    await open()
    await tick()
    const { metadata } = await bench.running(runName)
    expect(await listTokens()).toHaveLength(1)
    await bench.resources.remove('Task', metadata)
    await waitFor(async () => ((await listTokens()).length === 0 ? true : undefined), 'the Secret is gone')
  })

  it('is not created without its token: the tick is skipped, with the reason', async () => {
    await open({ fail: () => 'UpstreamFailed' })
    await tick()
    await bench.taskWhen('nightly', ({ status }) => status?.lastScheduleTime !== undefined, 'has ticked')
    expect(await bench.getTask(runName)).toBeUndefined()
    expect(await listTokens()).toEqual([])
    expect(await eventsOf('nightly')).toContain('TokenExchangeFailed')
  })

  it('waits while the exchange is unavailable, and is created afterwards', async () => {
    let isAway = true
    const asked = await open({ fail: () => (isAway ? 'Unavailable' : undefined) })
    await tick()
    await waitFor(() => (asked.length > 0 ? true : undefined), 'the exchange was asked')
    expect(await bench.getTask(runName)).toBeUndefined()
    isAway = false
    await waitFor(async () => {
      await bench.jump(100)
      return bench.getTask(runName)
    }, 'the run is made')
  })

  it.each([
    ['more than the parent has', { ...settings, childScope: 'a c' }],
    ['nothing', { childTtlMs: 1, toolTtlMs: 1 }],
  ])('requests no token when the scope of children is %s', async (_what, propagation) => {
    const asked = await open({ propagation })
    await tick()
    await bench.taskWhen('nightly', ({ status }) => status?.lastScheduleTime !== undefined, 'has ticked')
    expect(asked).toEqual([])
    expect(await bench.getTask(runName)).toBeUndefined()
    expect(await eventsOf('nightly')).toContain('--context-token-child-scope')
  })

  it('leaves neither child nor Secret when the child cannot be created', async () => {
    await open()
    bench.secrets.setOwner = async () => {
      throw new SvcError('Internal', 'broke')
    }
    await tick()
    await waitFor(async () => {
      await bench.jump(100)
      return bench.lines.find(({ fields }) => JSON.stringify(fields).includes('broke'))
    }, 'it was tried')
    await bench.pause()
    expect(await listTokens()).toEqual([])
  })

  it('gets its Secret at its start when the service ended before the Secret had changed owner', async () => {
    await open()
    const setOwner = bench.secrets.setOwner
    const parent = await bench.submitTask('parent', { schedule: '0 0 1 1 *', transaction })
    const owner = { name: 'parent', uid: parent.metadata.uid }
    const key = { namespace: 'default', name: 'parent-txn-1-0123456789' }
    await bench.secrets.create({ ...key, stringData: { token: 'kept-secret' }, owner })
    expect(bench.secrets.setOwner).toBe(setOwner)
    const child = await bench.submitTask(
      'child',
      { transaction },
      {
        annotations: { 'svc.ai/transaction-token-secret': key.name },
        ownerReferences: [{ apiVersion: 'core.svc.ai/v1alpha1', kind: 'Task', ...owner }],
      },
    )
    await bench.running('child')
    expect((await bench.secrets.describe(key))?.annotations['svc.ai/owner-task-uid']).toBe(child.metadata.uid)
  })
})

describe('a Secret that is not the token of the task', () => {
  it('is not mounted, whatever the annotation names', async () => {
    await open()
    const key = { namespace: 'default', name: 'prod' }
    await bench.secrets.create({ ...key, stringData: { token: 'production-secret' } })
    await bench.submitTask('thief', { transaction }, { annotations: { 'svc.ai/transaction-token-secret': 'prod' } })
    const failed = await bench.phase('thief', 'Failed')
    expect(failed.status?.message).toContain('transaction token')
    expect(bench.workloads.started).toEqual([])
  })

  it('cannot be referenced by the task when it is the token of another one', async () => {
    await open()
    const key = { namespace: 'default', name: 'nightly-txn-1-0123456789' }
    await bench.secrets.create({ ...key, stringData: { token: 't' }, owner: { name: 'nightly', uid: 'uid-1' } })
    const env = [{ name: 'STOLEN', valueFrom: { secretKeyRef: { name: key.name, key: 'token' } } }]
    await bench.submitTask('thief', { env })
    const failed = await bench.phase('thief', 'Failed')
    expect(failed.status?.message).toContain('belongs to a single task')
  })
})

describe('a schedule of a child', () => {
  it('is refused for a command that is part of a transaction', async () => {
    await open()
    const { uid } = (await bench.submitTask('boss')).metadata
    await bench.submitTask('nightly', scheduled, {
      ownerReferences: [{ apiVersion, kind: 'Task', name: 'boss', uid, controller: true }],
    })
    const failed = await bench.phase('nightly', 'Failed')
    expect(failed.status?.message).toContain('unsupported_schedule')
  })
})

describe('an ai task of a transaction', () => {
  const propagationOf = async (spec: object, options?: Options) => {
    await open(options)
    await bench.create('Provider', 'default', { type: 'demo', defaultModel: 'demo' })
    await bench.submitTask('think', { type: 'ai', prompt: 'say hi', command: undefined, ...spec })
    await bench.running('think')
    const { run } = bench.workloads.specOf('think')
    return run.kind === 'worker' ? run.assignment : undefined
  }

  it('makes its worker request a token for each call of a tool', async () => {
    const assignment = await propagationOf({ transaction })
    expect(assignment?.propagation).toEqual({ mode: 'exchange' })
    expect(assignment?.task.variables).toMatchObject({ SVC_TRANSACTION_ID: 'txn-1' })
  })

  it('passes no token on where the task is part of no transaction', async () => {
    expect((await propagationOf({}))?.propagation).toEqual({ mode: 'none' })
  })
})
