// The completion callback of a task: what is sent, how it is signed, and when it is tried again.
import { createHmac } from 'node:crypto'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { type Backoff, delayMs } from '../../lib/backoff.ts'

/** Name of the Secret that signs callbacks in each namespace (TASK-055). */
export const signingSecret = 'svc-callback-signing'

const backoff: Backoff = { firstMs: 5_000, maxMs: 3_600_000 }
/** Callbacks are given up this long after the task's end (TASK-056). */
export const callbackWindowMs = 86_400_000

function describeTask(task: Task): Record<string, unknown> {
  const { phase, message, startTime, completionTime, attempts, resultRef } = task.status ?? {}
  return {
    taskName: task.metadata.name,
    taskNamespace: task.metadata.namespace,
    taskUid: task.metadata.uid,
    phase,
    message,
    startTime,
    completionTime,
    attempts: attempts ?? 0,
    resultRef,
    runtimeType: task.spec.type === 'agent' ? 'agent' : undefined,
  }
}

export function makeCallbackBody(task: Task): string {
  return JSON.stringify(describeTask(task))
}

type ApprovalRequest = {
  id: string
  agentName?: string | undefined
  tool: string
  arguments: Record<string, unknown>
  message: string
  expiresAt: string
}

/** Of a parked task that asks a person: who asks for what, and until when it can be answered. */
export function makeApprovalBody(task: Task, approval: ApprovalRequest): string {
  const { id, agentName, tool, arguments: args, message, expiresAt } = approval
  return JSON.stringify({
    ...describeTask(task),
    approval: { id, agentName, tool, arguments: args, message, expiresAt },
  })
}

/** Value of `X-Svc-Signature-256` for a body. */
export function signCallback(body: string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** Delay after `attempts` failed deliveries; a retry never comes at once. */
export function callbackDelayMs(attempts: number, random: number): number {
  return delayMs(backoff, attempts, random)
}

/** Whether a callback is still owed. */
export function callbackDue(task: Task): boolean {
  return task.spec.webhookURL !== undefined && task.status?.webhook?.state === 'Pending'
}
