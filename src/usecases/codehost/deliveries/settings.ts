// What the webhook of the code host is set to.
import type { WebhookSecretSettings } from '../../../lookup/service-secrets.ts'

/** Without a secret the webhook is off. */
export type WebhookSettings = WebhookSecretSettings & {
  /** Namespace of the tasks that labels create, and in which deliveries are shown. */
  namespace: string
  /** Of labels that create tasks. */
  prefix: string
  /** Agent of these tasks, unless the action has one of its own. */
  agent?: string | undefined
  /** Agents of single actions; the action as `keyOfAction` writes it. */
  agents: Readonly<Record<string, string>>
  /** Name of the Secret with the login of the repositories. */
  gitSecret?: string | undefined
  /** Of one attempt, as a duration. */
  timeout: string
  maxTurns: number
  /** Hosts whose repositories are worked on. */
  hosts: readonly string[]
  /** How long the answer to the code host waits for what becomes of a delivery, in milliseconds. */
  replyTimeoutMs: number
  /** Without a sign of life from a worker for this long another one takes its delivery, in milliseconds. */
  leaseMs: number
  /** Deliveries processed at the same time by one replica. */
  concurrency: number
}

export const defaultWebhookSettings: Omit<WebhookSettings, 'hosts'> = {
  previousSecrets: [],
  namespace: 'default',
  prefix: 'agent:',
  agents: {},
  timeout: '30m',
  maxTurns: 100,
  replyTimeoutMs: 2000,
  leaseMs: 15_000,
  concurrency: 4,
}

/** `update-branch` -> `UPDATE_BRANCH`, as names of variables write an action. */
export function keyOfAction(action: string): string {
  return action.toUpperCase().replace(/[^A-Z0-9]/g, '_')
}

/** The agent of an action. */
export function agentOf({ agent, agents }: WebhookSettings, action: string): string | undefined {
  return agents[keyOfAction(action)] ?? agent
}
