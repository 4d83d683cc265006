// Which tools of the code host a task has (CODEHOST-009, CODEHOST-018, CODEHOST-023), and what the checks of a commit say together.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { allowsTool, type ContextMode } from '../identity/context-token.ts'

/** Structurally a check of the port. */
type SeenCheck = { name: string; state: 'passed' | 'failed' | 'pending'; outcome: string }

export type ChecksVerdict = {
  status: 'passed' | 'failed' | 'pending' | 'no_checks'
  passed: number
  failed: number
  pending: number
  /** Those that have not passed, with the code host's word for it. */
  details: string[]
}

/** A failure goes before what is still running; without any check nothing has passed. */
export function judgeChecks(checks: readonly SeenCheck[]): ChecksVerdict {
  const count = (state: SeenCheck['state']) => checks.filter((check) => check.state === state).length
  const [passed, failed, pending] = [count('passed'), count('failed'), count('pending')]
  const open = checks.filter(({ state }) => state !== 'passed')
  const status = failed > 0 ? 'failed' : pending > 0 ? 'pending' : passed > 0 ? 'passed' : 'no_checks'
  return {
    status,
    passed,
    failed,
    pending,
    details: open.slice(0, 50).map(({ name, outcome }) => `${name}: ${outcome}`),
  }
}

/** Come with `coordination.enabled`, and in no other way. */
export const pullRequestTools = [
  ...['create_pull_request', 'check_pull_request_ci', 'list_pull_requests', 'check_pr_review_marker'],
  ...['merge_pull_request', 'auto_merge_pull_request', 'review_pull_request', 'post_review_comment'],
] as const

/** Come where they are named, and in no other way. */
export const issueTools = ['list_issues', 'get_issue', 'comment_on_issue'] as const

/** All that a task of create_pr_monitor has. */
export const monitorTools = [
  ...['list_pull_requests', 'check_pr_review_marker', 'check_pull_request_ci'],
  ...['review_pull_request', 'post_review_comment'],
] as const

/** On tasks that create_pr_monitor makes; it takes tools away and gives none. */
export const monitorAnnotation = 'svc.ai/pr-monitor-name'

export function isPrMonitor({ metadata }: Pick<Task, 'metadata'>): boolean {
  return metadata.annotations?.[monitorAnnotation] !== undefined
}

/**
 * `named`: the tools of the service that the task and its agent name. Those that the context which asked for the task forbids are left
 * out.
 */
export function listCodeHostTools(
  task: Task,
  agent: Agent | undefined,
  named: readonly string[],
  mode: ContextMode = 'off',
): string[] {
  const { namespace } = task.metadata
  const context = task.spec.transaction?.context ?? {}
  return listOffered(task, agent, named).filter((name) => allowsTool({ namespace, name }, context, mode))
}

function listOffered(task: Task, agent: Agent | undefined, named: readonly string[]): string[] {
  const coordinates = agent?.spec.coordination?.enabled === true
  if (isPrMonitor(task)) return coordinates ? [...monitorTools] : []
  return [...(coordinates ? pullRequestTools : []), ...issueTools.filter((name) => named.includes(name))]
}
