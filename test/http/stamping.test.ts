// Who a task says it was asked for by: the verified identity, never what a client wrote, and the same in its children.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import type { Caller } from '../../src/ports/identity/identity.ts'
import { digestContext } from '../../src/rules/identity/context-digest.ts'
import { makeScheduledRun } from '../../src/rules/tasks/schedule.ts'
import { bindOrchestration } from '../../src/usecases/coordination/orchestration/orchestration.ts'
import { createBudgetLedger } from '../../src/usecases/index.ts'
import { type Issuer, startIssuer, subject } from '../fixtures/issuer.ts'
import { trustIssuer } from './identity-members.ts'
import { ownerToken, type Service, startService } from './service.ts'

let issuer: Issuer
let service: Service
beforeAll(async () => {
  issuer = await startIssuer()
  service = await startService(trustIssuer(issuer, { mode: 'off', namespace: 'team' }))
})
afterAll(async () => {
  await service.stop()
  await issuer.stop()
})

const tctx = { namespace: 'team', allowedAgents: ['b', 'a'], purpose: 'tests' }
const person = { email: 'ann@example.com', groups: ['dev'], roles: ['writer'], preferred_username: 'ann' }

async function headersOf(kind: 'oidc' | 'context' | 'owner'): Promise<Record<string, string>> {
  if (kind === 'owner') return { authorization: `Bearer ${ownerToken}` }
  if (kind === 'oidc') return { authorization: `Bearer ${await issuer.sign(person)}` }
  return { 'txn-token': await issuer.signTransaction({ tctx, scope: 'svc:tasks:create svc:tasks:get' }) }
}

async function post(kind: 'oidc' | 'context' | 'owner', path: string, payload: object, query = '') {
  return service.call(`POST ${path}${query}`, { token: null, headers: await headersOf(kind), payload })
}

const body = (name: string, more: object = {}) => ({ name, type: 'container', command: ['true'], ...more })
const requestedBy = {
  subject,
  username: 'ann',
  email: 'ann@example.com',
  groups: ['dev'],
  roles: ['writer'],
}
const requestedByWorkload = { subject, username: subject, roles: ['svc:tasks:create', 'svc:tasks:get'] }

describe('a new task', () => {
  it('of an OpenID Connect caller has its identity, and no transaction [TASK-012] [TASK-014]', async () => {
    const answer = await post('oidc', '/api/v1/tasks', body('of-person'))
    const task: Task = answer.json()
    expect(answer.statusCode).toBe(201)
    expect(task.spec.requestedBy).toEqual({ ...requestedBy, issuer: issuer.url })
    expect(task.spec.transaction).toBeUndefined()
    expect(Object.keys(task.metadata.labels ?? {})).toEqual([])
  })

  it('of a context token has its identity and transaction [TASK-013] [TASK-015] [TASK-016]', async () => {
    const task: Task = (await post('context', '/api/v1/tasks', body('of-workload'))).json()
    expect(task.metadata.namespace).toBe('team')
    expect(task.spec.requestedBy).toEqual({ ...requestedByWorkload, issuer: issuer.url })
    const scope = 'svc:tasks:create svc:tasks:get'
    expect(task.spec.transaction).toEqual({
      profile: 'kontxt',
      id: 'txn-1',
      issuer: issuer.url,
      audience: ['svc-of-the-tests'],
      subject,
      requestingWorkload: 'spiffe://acme/site',
      scope,
      scopes: scope.split(' '),
      contextDigest: digestContext(tctx),
      context: { namespace: 'team', allowedAgents: 'b,a', purpose: 'tests' },
    })
    expect(task.metadata.labels).toEqual({ 'svc.ai/transaction-id': 'txn-1', 'svc.ai/auth-profile': 'kontxt' })
    expect(task.metadata.annotations).toMatchObject({
      'svc.ai/transaction-id': 'txn-1',
      'svc.ai/transaction-subject': subject,
      'svc.ai/transaction-scope': scope,
      'svc.ai/transaction-context-digest': digestContext(tctx),
    })
  })

  it('of a token of the service has neither', async () => {
    const task: Task = (await post('owner', '/api/v1/tasks', body('of-owner'))).json()
    expect([task.spec.requestedBy, task.spec.transaction, task.metadata.labels]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it.each([
    ['at the root', { RequestedBy: { username: 'root' } }, 'RequestedBy'],
    ['in spec', { spec: { TRANSACTION: { id: 'x' } } }, 'spec.TRANSACTION'],
    ['in an embedded task', { spec: { template: { spec: { requestedby: {} } } } }, 'spec.template.spec.requestedby'],
  ])('does not take an identity from a client %s [TASK-018]', async (_where, forged, path) => {
    for (const kind of ['owner', 'oidc', 'context'] as const) {
      const answer = await post(kind, '/api/v1/tasks', body('forged', forged))
      expect(answer.statusCode).toBe(400)
      expect(answer.json().error.details.map((detail: { path: string }) => detail.path)).toContain(path)
    }
  })

  it('does not take the labels and annotations of a transaction from a client', async () => {
    const metadata = {
      labels: { 'svc.ai/transaction-id': 'forged', team: 'a' },
      annotations: { 'svc.ai/transaction-subject': 'forged' },
    }
    for (const part of [{ labels: metadata.labels }, { annotations: metadata.annotations }]) {
      const answer = await post('context', '/api/v1/tasks', { ...body('forged'), metadata: { ...part } })
      expect([answer.statusCode, answer.body.includes('forged')]).toEqual([400, false])
    }
  })
})

describe('a stamped task', () => {
  const ownerCaller: Caller = {
    authType: 'token',
    username: 'owner',
    groups: [],
    role: 'owner',
    serverTools: true,
  }

  it('keeps its stamp when it is replaced, and takes no other', async () => {
    const task: Task = (await post('context', '/api/v1/tasks', body('kept'))).json()
    const key = { namespace: 'team', name: 'kept' }
    const { requestedBy: _who, transaction: _what, ...bare } = task.spec
    const replace = (spec: Task['spec'], labels?: Record<string, string>) =>
      service.usecases.resources.replace(ownerCaller, 'Task', key, { metadata: labels ? { labels } : {}, spec })
    const replaced = await replace({ ...bare, priority: 7 }, { team: 'b' })
    expect(replaced.spec).toEqual({ ...task.spec, priority: 7 })
    expect(replaced.metadata.labels).toEqual({ team: 'b', ...task.metadata.labels })
    expect((await replace(task.spec)).spec.transaction).toEqual(task.spec.transaction)
    const other = { ...task.spec, requestedBy: { username: 'owner' } }
    await expect(replace(other)).rejects.toMatchObject({ details: [{ path: 'spec.requestedBy' }] })
    await expect(replace(bare, { 'svc.ai/auth-profile': 'none' })).rejects.toMatchObject({ reason: 'InvalidRequest' })
  })

  it('passes its stamp on to the runs of its schedule', async () => {
    const task: Task = (await post('context', '/api/v1/tasks', body('cron', { schedule: '0 0 * * *' }))).json()
    const run = makeScheduledRun(task, new Date('2026-01-01T00:00:00Z'))
    expect(run.spec).toMatchObject({ requestedBy: task.spec.requestedBy, transaction: task.spec.transaction })
    expect(run.metadata.labels).toMatchObject(task.metadata.labels ?? {})
    expect(run.metadata.annotations).toMatchObject({ 'svc.ai/transaction-id': 'txn-1', 'svc.ai/caller': subject })
  })

  it('gets the identity of whoever retries it, not of its first author', async () => {
    await post('context', '/api/v1/tasks', body('again'))
    await service.setStatus('Task', 'again', { phase: 'Failed' }, 'team')
    const answer = await post('oidc', '/api/v1/tasks/again/retry', {}, '?namespace=team')
    const task: Task = answer.json()
    expect(task.spec.requestedBy).toEqual({ ...requestedBy, issuer: issuer.url })
    expect([task.spec.transaction, task.metadata.labels]).toEqual([undefined, { 'svc.ai/retry-of': 'again' }])
    const same: Task = (await post('context', '/api/v1/tasks/again/retry', {})).json()
    expect(same.spec.transaction?.id).toBe('txn-1')
  })
})

describe('what a model makes', () => {
  async function orchestrate() {
    const token = await issuer.sign(person)
    const caller = await service.ports.authenticator.authenticate({ token, source: 'bearer' })
    const { ports, usecases } = service
    const settings = {
      allowDemoProvider: true,
      ownAddresses: () => [],
      allowNetworks: [],
      idempotencyKey: Buffer.alloc(32),
    }
    const builtinTools = { names: [], list: async () => [] }
    return bindOrchestration(
      {
        ports,
        settings,
        builtinTools,
        ledger: createBudgetLedger(ports),
        resources: usecases.resources,
        tasks: usecases.tasks,
        sessions: usecases.sessions,
      },
      {
        caller,
        namespace: 'team',
        blockedNamespaces: [],
        labels: {},
        nameTask: () => `chat-${Date.now()}`,
        maxTasks: 5,
      },
    )
  }

  it('has the identity of the person that the model works for', async () => {
    const verbs = await orchestrate()
    const task = await verbs.createTask({ spec: { type: 'container', command: ['true'] } })
    expect(task.spec.requestedBy).toEqual({ ...requestedBy, issuer: issuer.url })
  })

  it('can reference no secret, though the person may [SECRET-007]', async () => {
    const verbs = await orchestrate()
    const secretRef = { name: 'key' }
    const http = { url: 'https://example.com/', authSecretRef: { name: 'key', key: 'token' } }
    const tries = [
      verbs.createAgent({ name: 'thief' }, { secretRef }),
      verbs.createTool({ name: 'thief' }, { description: 'd', http }),
      verbs.createTask({ spec: { type: 'container', command: ['env'], secretRef } }),
    ]
    for (const trial of tries) {
      await expect(trial).rejects.toMatchObject({ reason: 'Forbidden', message: expect.stringContaining('secret') })
    }
    const named = { name: 'mine', spec: { secretRef } }
    expect((await post('oidc', '/api/v1/agents', named, '?namespace=team')).statusCode).toBe(201)
  })
})
