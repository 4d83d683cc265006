import { describe, expect, it } from 'vitest'
import { apiVersion, type ObjectMeta } from '../../contract/kinds/resources/metadata.ts'
import { TransactionContext } from '../../contract/kinds/tasks/requester.ts'
import { digestContext } from '../identity/context-digest.ts'
import { fitsTask, type Identity, inheritStamp, parentOf, stampOf, toLabel } from './stamp.ts'

const owner = { apiVersion, kind: 'Task', name: 'boss', uid: 'uid-1', controller: true }
const metadata: ObjectMeta = {
  name: 'child',
  namespace: 'default',
  uid: 'uid-2',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
}

describe('the parent of a task', () => {
  it('is the task that owns it by uid', () => {
    const references = [{ ...owner, controller: false, uid: 'uid-0' }, owner]
    expect(parentOf({ metadata: { ...metadata, ownerReferences: references } })).toEqual({ uid: 'uid-1', name: 'boss' })
  })

  it('is never taken from a label or an annotation', () => {
    const labels = { 'svc.ai/parent-task': 'boss', 'svc.ai/coordinator': 'true' }
    const annotations = { 'svc.ai/parent-task-name': 'boss' }
    const claiming: ObjectMeta = { ...metadata, labels, annotations }
    expect(parentOf({ metadata: claiming })).toBeUndefined()
  })

  it('is never an owner that is not a Task of this service', () => {
    for (const other of [{ kind: 'Agent' }, { apiVersion: 'v1' }, { controller: undefined }]) {
      const ownerReferences = [{ ...owner, ...other }]
      expect(parentOf({ metadata: { ...metadata, ownerReferences: ownerReferences as never } })).toBeUndefined()
    }
  })
})

const person: Identity = {
  authType: 'oidc',
  username: 'ann',
  groups: ['dev'],
  subject: 'sub-1',
  issuer: 'https://issuer.example.com',
  email: 'ann@example.com',
  roles: ['writer'],
}
const context = { namespace: 'team', allowedAgents: ['b', 'a'], own: 'not shown' }
const workload: Identity = {
  authType: 'contextToken',
  username: 'sub-2',
  groups: [],
  subject: 'sub-2',
  issuer: 'https://tts.example.com',
  roles: ['svc:tasks:create'],
  transaction: {
    profile: 'kontxt',
    type: 'txntoken+jwt',
    id: 'txn 1/é',
    issuer: 'https://tts.example.com',
    subject: 'sub-2',
    audience: ['svc'],
    scope: 'svc:tasks:create',
    scopes: ['svc:tasks:create'],
    requestingWorkload: 'spiffe://acme/site',
    context,
    requesterContext: {},
  },
}

describe('the stamp of a task', () => {
  it('holds the claims of an OpenID Connect caller, and no transaction [TASK-017]', () => {
    const { authType: _type, ...shown } = person
    expect(stampOf(person)).toEqual({ spec: { requestedBy: shown }, labels: {}, annotations: {} })
  })

  it('omits claims that are absent', () => {
    expect(stampOf({ authType: 'oidc', username: 'ann', groups: [], email: '', subject: 's' }).spec).toEqual({
      requestedBy: { username: 'ann', subject: 's' },
    })
  })

  it('is empty for tokens of the service and of the cluster, whatever claims they have [TASK-017]', () => {
    for (const authType of ['token', 'tokenReview']) {
      expect(stampOf({ ...workload, authType })).toEqual({ spec: {}, labels: {}, annotations: {} })
    }
  })

  it('has the transaction of a context token, with digests and the part of its context that may be shown', () => {
    const { spec, labels, annotations } = stampOf(workload)
    const digest = digestContext(context)
    expect(spec.transaction).toEqual({
      profile: 'kontxt',
      id: 'txn 1/é',
      issuer: 'https://tts.example.com',
      audience: ['svc'],
      subject: 'sub-2',
      requestingWorkload: 'spiffe://acme/site',
      scope: 'svc:tasks:create',
      scopes: ['svc:tasks:create'],
      contextDigest: digest,
      context: { namespace: 'team', allowedAgents: 'b,a' },
    })
    expect(labels).toEqual({ 'svc.ai/transaction-id': toLabel('txn 1/é'), 'svc.ai/auth-profile': 'kontxt' })
    expect(annotations).toEqual({
      'svc.ai/transaction-id': 'txn 1/é',
      'svc.ai/context-token-profile': 'kontxt',
      'svc.ai/transaction-issuer': 'https://tts.example.com',
      'svc.ai/transaction-subject': 'sub-2',
      'svc.ai/transaction-requesting-workload': 'spiffe://acme/site',
      'svc.ai/transaction-scope': 'svc:tasks:create',
      'svc.ai/transaction-context-digest': digest,
    })
  })

  it('with every key that may be shown fits the schema', () => {
    const keys = Object.keys(TransactionContext.shape)
    const all = Object.fromEntries(keys.map((key) => [key, 'x']))
    const { transaction } = stampOf({ ...workload, transaction: { ...transactionOf(workload), context: all } }).spec
    expect(transaction?.context).toEqual(all)
  })

  it('that is too long for a task is refused, and not cut', () => {
    expect(fitsTask(stampOf(person))).toBe(true)
    expect(fitsTask(stampOf(workload))).toBe(true)
    expect(fitsTask(stampOf({ ...person, groups: Array.from({ length: 513 }, (_, at) => `g${at}`) }))).toBe(false)
    expect(fitsTask(stampOf({ ...person, subject: 'x'.repeat(1025) }))).toBe(false)
  })

  it('is inherited by children without the token that was made for the parent', () => {
    const { spec, labels, annotations } = stampOf(workload)
    const own = { 'svc.ai/transaction-token-secret': 'parent-txn', 'svc.ai/caller': 'sub-2', other: 'x' }
    const parent = {
      metadata: { labels: { ...labels, team: 'a' }, annotations: { ...annotations, ...own } },
      spec: { ...spec, prompt: 'hi' },
    }
    expect(inheritStamp(parent)).toEqual({ spec, labels, annotations })
    expect(inheritStamp({ metadata: {}, spec: {} })).toEqual({ spec: {}, labels: {}, annotations: {} })
  })
})

function transactionOf({ transaction }: Identity) {
  if (transaction === undefined) throw new Error('no transaction')
  return transaction
}

describe('a text turned into a label', () => {
  it('stays as it is where it is already valid', () => {
    for (const text of ['txn-1', 'A.b_c-9', 'x'.repeat(63)]) expect(toLabel(text)).toBe(text)
  })

  it('is always valid, and no two texts become the same label', () => {
    const texts = ['a b', 'a-b', 'a/b', '-a', 'a-', 'é', '???', 'x'.repeat(64), 'x'.repeat(65), 'a\0b']
    const labels = texts.map(toLabel)
    for (const label of labels) expect(label).toMatch(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/)
    expect(new Set(labels).size).toBe(texts.length)
  })
})
