// The tasks of a review: the validation commands, and the reviewer, at exactly one commit.
import { createHash } from 'node:crypto'
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import { apiVersion } from '../../contract/kinds/resources/metadata.ts'
import type { TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { type Repository, repositoryUrlOf } from '../../contract/values/repository-url.ts'
import { trimTrailing } from '../../lib/trim.ts'
import { networkAnnotation } from '../tasks/bounds.ts'
import { fenceOf, writeCheckCommand } from './checks.ts'

export const monitorLabel = 'svc.ai/repository-monitor'

/** What is reviewed, as the code host reported it. */
export type ReviewedPullRequest = {
  number: number
  title: string
  author: string
  draft: boolean
  labels: readonly string[]
  baseBranch: string
  baseSHA: string
  headBranch: string
  headSHA: string
  /** Its head is in another repository; undefined when that is gone. */
  fork?: { repository: Repository | undefined }
}

export type ReviewRequest = {
  monitor: RepositoryMonitor
  repository: Repository
  pullRequest: ReviewedPullRequest
  runID: string
}

const maxNameLength = 63
const hashLength = 10

/** A name that is the same for the same review of the same run, and never too long. */
function nameTask(prefix: string, { monitor, pullRequest, runID }: Omit<ReviewRequest, 'repository'>): string {
  const { number, headSHA } = pullRequest
  const digest = createHash('sha256').update([monitor.metadata.uid, number, headSHA, runID].join('\0')).digest('hex')
  const name = `${prefix}-${monitor.metadata.name}-${number}-${headSHA.slice(0, 8)}`
  return `${trimTrailing(name.slice(0, maxNameLength - hashLength - 1), '-')}-${digest.slice(0, hashLength)}`
}

export const nameReviewTask = (asking: Omit<ReviewRequest, 'repository'>) => nameTask('monrev', asking)
export const nameValidationTask = (asking: Omit<ReviewRequest, 'repository'>) => nameTask('monval', asking)

function makeMetadata(name: string, { monitor, repository, pullRequest, runID }: ReviewRequest) {
  const { namespace, name: owner, uid } = monitor.metadata
  return {
    name,
    namespace,
    labels: {
      [monitorLabel]: owner,
      'svc.ai/codehost-target': 'pull_request',
      'svc.ai/codehost-number': String(pullRequest.number),
    },
    annotations: {
      'svc.ai/repository-monitor-name': owner,
      'svc.ai/monitor-run-id': runID,
      'svc.ai/monitor-item-kind': 'pull_request',
      'svc.ai/monitor-item-number': String(pullRequest.number),
      'svc.ai/monitor-head-sha': pullRequest.headSHA,
      'svc.ai/codehost-repository': `${repository.owner}/${repository.name}`,
    },
    ownerReferences: [{ apiVersion, kind: 'RepositoryMonitor', name: owner, uid, controller: true }],
  }
}

/** Where the commit is; only what lies in the monitored repository itself is fetched with its login. */
function makeWorkspace({ monitor, repository, pullRequest }: ReviewRequest): TaskSpec['workspace'] {
  const { fork, headSHA } = pullRequest
  if (fork !== undefined) return { gitRepo: repositoryUrlOf(fork.repository ?? repository), ref: headSHA }
  const { gitSecretRef } = monitor.spec
  return { gitRepo: repositoryUrlOf(repository), ref: headSHA, ...(gitSecretRef && { gitSecretRef }) }
}

const common = {
  concurrencyPolicy: 'Forbid' as const,
  startingDeadlineSeconds: 100,
  successfulRunsHistoryLimit: 3,
  failedRunsHistoryLimit: 1,
  ttlSecondsAfterFinished: 604_800,
}
const priorities = { inventory: 700, targeted: 800 }
const reviewTimeout = '2h'

/** The folder of the reviewer's input, in the workspace but no part of the repository. */
export const inputFolder = '.git/svc'

/** The task of the reviewer. It is resumed when its files are there. */
export function makeReviewTask(asking: ReviewRequest, { prompt, isTargeted }: { prompt: string; isTargeted: boolean }) {
  const { monitor } = asking
  const reviewer = monitor.spec.agents?.reviewer
  const spec: TaskSpec = {
    ...common,
    type: 'agent',
    prompt,
    suspend: true,
    priority: isTargeted ? priorities.targeted : priorities.inventory,
    timeout: reviewTimeout,
    ...(reviewer && { agentRef: { name: reviewer.name, namespace: reviewer.namespace ?? monitor.metadata.namespace } }),
    agentRuntime: { allowedTools: ['Read', 'Glob', 'Grep', 'LS'], allowBash: false },
    workspace: makeWorkspace(asking),
  }
  return { metadata: makeMetadata(nameReviewTask(asking), asking), spec }
}

/** The task of the validation commands: neither network nor secrets, whoever wrote the commit. */
export function makeValidationTask(asking: ReviewRequest, isTargeted: boolean) {
  const { commands = [], timeout } = asking.monitor.spec.validation
  const { annotations, ...metadata } = makeMetadata(nameValidationTask(asking), asking)
  const spec: TaskSpec = {
    ...common,
    type: 'container',
    command: writeCheckCommand(commands, fenceOf(asking)),
    suspend: false,
    priority: isTargeted ? priorities.targeted : priorities.inventory,
    timeout,
    workspace: makeWorkspace(asking),
  }
  return { metadata: { ...metadata, annotations: { ...annotations, [networkAnnotation]: 'none' } }, spec }
}
