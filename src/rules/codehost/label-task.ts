// The task that a label asks for.
import { createHash } from 'node:crypto'
import type { EnvVar, Workspace } from '../../contract/kinds/tasks/execution.ts'
import { toLabel } from '../tasks/stamp.ts'
import { writePrompt } from './prompt.ts'
import { codeHostKeys, createdByKey, subjectLabels } from './subject.ts'
import { isFork, type TaskRequest } from './task-request.ts'

export type LabelTrigger = {
  agent: { name: string; namespace?: string }
  /** Name of the Secret with the login of the repository. */
  gitSecret?: string | undefined
  timeout: string
  maxTurns: number
}

const hashDigits = 12
const longestAction = 24
/** Actions that only read. */
const readers = ['review', 'to-issues', 'explain']

function slug(text: string): string {
  const safe = text.replace(/[^a-z0-9]+/g, '-').slice(0, longestAction)
  return safe.replace(/^-+|-+$/g, '') || 'task'
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, hashDigits)
}

/** The same for the same delivery, so that it makes no second task. */
export function nameTask({ action, target, delivery }: Pick<TaskRequest, 'action' | 'target' | 'delivery'>): string {
  return `codehost-${slug(action)}-${target.number}-${hash(delivery)}`
}

function nameBranch({ action, target, delivery }: TaskRequest): string | undefined {
  const kind = target.kind === 'issue' ? 'issue' : 'pr'
  if (readers.includes(action)) return undefined
  if (action === 'implement') return target.head?.branch ?? `svc/implement-${kind}-${target.number}-${hash(delivery)}`
  if (action === 'update-branch') return target.head?.branch
  return `svc/${slug(action)}-${kind}-${target.number}`
}

/** Code of forks gets no login and is pushed nowhere. What is only read is checked out at exactly the head. */
function placeWork(request: TaskRequest, gitSecret: string | undefined): Workspace {
  const { event, target } = request
  const { head } = target
  const secret = isFork(event, target) ? undefined : gitSecret
  const pushBranch = secret === undefined ? undefined : nameBranch(request)
  const { defaultBranch, cloneURL } = event.repository
  return {
    gitRepo: head?.repository?.cloneURL ?? cloneURL,
    ...(head === undefined ? defaultBranch !== undefined && { branch: defaultBranch } : { ref: head.sha }),
    ...(head !== undefined && pushBranch === head.branch && { branch: head.branch }),
    ...(secret !== undefined && { gitSecretRef: { name: secret } }),
    ...(pushBranch !== undefined && { pushBranch }),
  }
}

function listVariables({ event, target, action, delivery, label = '' }: TaskRequest): EnvVar[] {
  const { base } = target
  const values: Record<string, string> = {
    SVC_CODEHOST_EVENT: event.event,
    SVC_CODEHOST_DELIVERY: delivery,
    SVC_CODEHOST_LABEL: label,
    SVC_CODEHOST_ACTION: action,
    SVC_CODEHOST_REPOSITORY: event.repository.fullName,
    SVC_CODEHOST_TARGET_URL: target.url,
    ...(base && {
      SVC_PR_BASE_REPO: base.repository?.cloneURL ?? event.repository.cloneURL,
      SVC_PR_BASE_SHA: base.sha,
    }),
    ...(action === 'update-branch' && { SVC_ALLOW_EMPTY_PUSH_BRANCH: 'true' }),
  }
  return Object.entries(values).map(([name, value]) => ({ name, value }))
}

function listAnnotations({ event, target, action, delivery, label }: TaskRequest): Record<string, string> {
  return {
    [codeHostKeys.delivery]: delivery,
    ...(label !== undefined && { [codeHostKeys.label]: label }),
    [codeHostKeys.action]: action,
    [codeHostKeys.repository]: event.repository.fullName,
    [codeHostKeys.url]: target.url,
    [codeHostKeys.sender]: event.sender,
    [codeHostKeys.number]: String(target.number),
    ...(event.happenedAt !== undefined && { [codeHostKeys.happenedAt]: event.happenedAt }),
  }
}

/** Name, labels, annotations and spec of the task. */
export function makeTask(request: TaskRequest, trigger: LabelTrigger) {
  const { event, target, action, by } = request
  const workspace = placeWork(request, trigger.gitSecret)
  return {
    name: nameTask(request),
    labels: {
      [createdByKey]: by,
      [codeHostKeys.event]: event.event,
      [codeHostKeys.action]: toLabel(action),
      [codeHostKeys.target]: target.kind,
      ...subjectLabels(event.repository.fullName, target.number),
    },
    annotations: listAnnotations(request),
    spec: {
      type: 'agent' as const,
      agentRef: trigger.agent,
      prompt: writePrompt(request, { pushes: workspace.pushBranch, isFork: isFork(event, target) }),
      timeout: trigger.timeout,
      env: listVariables(request),
      agentRuntime: { maxTurns: trigger.maxTurns },
      workspace,
    },
  }
}
