import { describe, expect, it } from 'vitest'
import type { WorkloadRun } from '../../../ports/workloads.ts'
import { makeJob, makeSecret } from './manifests.ts'

const options = {
  instance: 'svc',
  worker: { image: 'svc:1', command: ['node', 'worker.js'], serviceAccount: 'svc-worker' },
  graceSeconds: 10,
  scratchBytes: 1000,
  ownerOf: () => undefined,
}

function make(run: Partial<Extract<WorkloadRun, { kind: 'command' }>>) {
  const spec = {
    key: { taskUid: 'uid-1', attempt: 1 },
    namespace: 'default',
    taskName: 'build',
    run: { kind: 'command' as const, image: 'busybox', command: ['true'], args: [], env: {}, ...run },
    limits: {},
    labels: { 'svc.ai/transaction-id': 'txn-1', 'svc.ai/task-uid': 'forged' },
    annotations: { 'svc.ai/transaction-subject': 'ada' },
  }
  return { job: makeJob(spec, options), secret: makeSecret(spec, options) }
}

describe('the pod of a command of a transaction', () => {
  it('has its token as a file of the Secret of the attempt, and nowhere else', () => {
    const { job, secret } = make({ transactionToken: 'opaque-1', redact: ['opaque-1'] })
    const value = Buffer.from('opaque-1').toString('base64')
    expect(secret).toMatchObject({ data: { 'transaction-token': value } })
    const text = JSON.stringify(job)
    expect(text).not.toContain('opaque-1')
    expect(text).not.toContain(value)
    const path = '/run/svc/transaction/token'
    const { name } = (secret as { metadata: { name: string } }).metadata
    expect(job).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                env: expect.arrayContaining([
                  { name: 'SVC_TRANSACTION_TOKEN_FILE', value: path },
                  { name: 'SVC_CONTEXT_TOKEN_SUBJECT_TOKEN_FILE', value: path },
                ]),
                volumeMounts: expect.arrayContaining([
                  { name: 'transaction', mountPath: '/run/svc/transaction', readOnly: true },
                ]),
              },
            ],
            volumes: expect.arrayContaining([
              {
                name: 'transaction',
                secret: {
                  secretName: name,
                  defaultMode: 0o440,
                  items: [{ key: 'transaction-token', path: 'token' }],
                },
              },
            ]),
          },
        },
      },
    })
  })

  it('has no such file without a token', () => {
    const { job, secret } = make({})
    expect(secret).toBeUndefined()
    expect(JSON.stringify(job)).not.toContain('/run/svc/transaction')
  })

  it('carries the labels and annotations of its task, as does its Job; none takes the place of the service’s own', () => {
    const { metadata, spec } = make({}).job as {
      metadata: Record<string, Record<string, string>>
      spec: { template: { metadata: Record<string, Record<string, string>> } }
    }
    for (const { labels, annotations } of [metadata, spec.template.metadata]) {
      expect(labels?.['svc.ai/transaction-id']).toBe('txn-1')
      expect(Object.values(labels ?? {})).not.toContain('forged')
      expect(annotations?.['svc.ai/transaction-subject']).toBe('ada')
    }
  })
})
