import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../errors.ts'
import { normalizeTaskBody } from './task-body.ts'

function refuse(body: unknown): SvcError {
  try {
    normalizeTaskBody(body)
  } catch (error) {
    if (error instanceof SvcError) return error
  }
  throw new Error('the body was accepted')
}

const pathsOf = (body: unknown) => refuse(body).details?.map((problem) => problem.path)
const task = { name: 'a', type: 'ai', prompt: 'hello' }

describe('task bodies', () => {
  it('may be flat, nested, or both [TASK-033]', () => {
    const flat = normalizeTaskBody({ ...task, namespace: 'team', labels: { a: 'b' }, annotations: { note: 'x' } })
    const nested = normalizeTaskBody({
      metadata: { name: 'a', namespace: 'team', labels: { a: 'b' }, annotations: { note: 'x' } },
      spec: { type: 'ai', prompt: 'hello' },
    })
    expect(flat).toEqual(nested)
    expect(flat.metadata).toEqual({ name: 'a', namespace: 'team', labels: { a: 'b' }, annotations: { note: 'x' } })
    expect(flat.spec).toMatchObject({ type: 'ai', prompt: 'hello', priority: 500 })
  })

  it('let what is flat and not empty win over what is nested', () => {
    const { metadata, spec } = normalizeTaskBody({
      name: 'flat',
      namespace: '',
      prompt: 'flat',
      command: [],
      env: null,
      retryPolicy: {},
      priority: 0,
      suspend: false,
      metadata: { name: 'nested', namespace: 'nested', labels: { x: '1' } },
      spec: { type: 'ai', prompt: 'nested', priority: 9, suspend: true, retryPolicy: { maxRetries: 2 } },
    })
    expect(metadata).toEqual({ name: 'flat', namespace: 'nested', labels: { x: '1' } })
    expect(spec).toMatchObject({ prompt: 'flat', priority: 0, suspend: false, retryPolicy: { maxRetries: 2 } })
  })

  it('may carry what the server sets, which is ignored [HTTP-016]', () => {
    const { metadata } = normalizeTaskBody({
      apiVersion: 'core.svc.ai/v1alpha1',
      kind: 'Task',
      metadata: { name: 'a', uid: 'u', resourceVersion: '5', generation: 2, finalizers: ['x'], managedFields: [] },
      spec: { type: 'ai', prompt: 'x' },
      status: { phase: 'Succeeded', anything: 1 },
    })
    expect(metadata).toEqual({ name: 'a' })
  })

  it('have every problem named, wherever it is [HTTP-015]', () => {
    const error = refuse({
      name: 'Bad Name',
      type: 'container',
      imge: 'x',
      timeout: '0s',
      metadata: { lables: {} },
      spec: { comand: ['x'], sessionRef: { name: 's', mode: 1 } },
    })
    expect(error.status).toBe(400)
    expect(error.details?.map((problem) => problem.path).sort()).toEqual(
      ['imge', 'metadata.lables', 'name', 'spec.comand', 'spec.sessionRef.mode', 'timeout'].sort(),
    )
  })

  it('have rules across fields checked beside unknown fields [TASK-034]', () => {
    expect(pathsOf({ name: 'a', type: 'agent', extra: 1 })).toEqual(['extra', 'agentRef', 'prompt'])
    expect(pathsOf({ name: 'a', spec: { type: 'agent', extra: 1 } })).toEqual([
      'spec.extra',
      'spec.agentRef',
      'spec.prompt',
    ])
  })

  it.each([[null], [undefined], [[]], ['x'], [5]])('are refused when they are %j', (body) => {
    expect(refuse(body).details).toEqual([{ path: '', message: 'the body must be a JSON object' }])
  })

  it('need a name, and a short one with a schedule', () => {
    expect(pathsOf({ type: 'ai', prompt: 'x' })).toEqual(['name'])
    expect(pathsOf({ ...task, name: 'a'.repeat(53), schedule: '@hourly' })).toEqual(['name'])
    expect(normalizeTaskBody({ ...task, name: 'a'.repeat(52), schedule: '@hourly' }).metadata.name).toHaveLength(52)
  })

  it('may be nested deeply or have very many fields, and are still only wrong', () => {
    const deep: Record<string, unknown> = {}
    let inner = deep
    for (let depth = 0; depth < 20_000; depth += 1) {
      inner.spec = {}
      inner = inner.spec as Record<string, unknown>
    }
    expect(pathsOf({ ...task, ...deep })).toEqual(['spec.spec'])
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, 1]))
    expect(pathsOf({ ...task, ...many })).toHaveLength(1000)
  })

  it('do not reach the prototype of anything', () => {
    const body = JSON.parse('{"name":"a","type":"ai","prompt":"p","__proto__":{"x":1},"spec":{"__proto__":{"x":1}}}')
    expect(pathsOf(body)).toEqual(['__proto__', 'spec.__proto__'])
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
})

describe('identity in task bodies', () => {
  it.each([
    ['requestedBy', { ...task, requestedBy: {} }],
    ['RequestedBy', { ...task, RequestedBy: null }],
    ['transaction', { ...task, transaction: { id: 'x' } }],
    ['TRANSACTION', { ...task, TRANSACTION: 1 }],
    ['spec.requestedBy', { ...task, spec: { requestedBy: { subject: 'me' } } }],
    ['spec.requestedby', { ...task, spec: { requestedby: {} } }],
    ['spec.transaction', { ...task, spec: { transaction: {} } }],
    ['spec.template.spec.requestedBy', { ...task, spec: { template: { spec: { requestedBy: {} } } } }],
    ['task.spec.Transaction', { ...task, task: { spec: { Transaction: {} } } }],
  ])('%s cannot be set by clients [TASK-030]', (path, body) => {
    const error = refuse(body)
    expect(error.status).toBe(400)
    expect(error.details).toContainEqual({ path, message: 'cannot be set by clients; remove it' })
    expect(error.details?.filter((problem) => problem.path === path)).toHaveLength(1)
  })

  it('is not looked for in free-form maps [TASK-031]', () => {
    const body = {
      name: 'a',
      type: 'agent',
      agentRef: { name: 'x' },
      prompt: 'x',
      labels: { transaction: 'a', requestedBy: 'b' },
      annotations: { requestedBy: 'me' },
      env: [{ name: 'requestedBy', value: 'x' }],
      execution: { nodeSelector: { transaction: 'y' }, affinity: { spec: { requestedBy: {} } } },
    }
    expect(normalizeTaskBody(body).metadata.labels).toEqual({ transaction: 'a', requestedBy: 'b' })
  })

  it('cannot be written into reserved annotations', () => {
    expect(pathsOf({ ...task, annotations: { 'svc.ai/parent-task-name': 'x' } })).toEqual([
      'annotations["svc.ai/parent-task-name"]',
    ])
    expect(pathsOf({ ...task, metadata: { bad: 1, annotations: { 'svc.ai/x': 'y' } } })).toEqual([
      'metadata.bad',
      'metadata.annotations["svc.ai/x"]',
    ])
    expect(normalizeTaskBody({ ...task, labels: { 'svc.ai/created-by': 'me' } }).metadata.labels).toBeDefined()
  })
})
