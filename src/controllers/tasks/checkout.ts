// What is checked out for a task: address, credentials, and the changes of the task before it.

import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import { isTerminalPhase, promptOf, type Task } from '../../contract/kinds/tasks/task.ts'
import { dropUndefined } from '../../contract/schema/json.ts'
import { SvcError } from '../../errors.ts'
import { readGitLogin } from '../../lookup/git-login.ts'
import { readResultText } from '../../lookup/result-text.ts'
import type { CodeHosts } from '../../ports/codehost/code-host.ts'
import type { ResourceReader } from '../../ports/resources/resources.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import type { Results } from '../../ports/tasks/results.ts'
import type { AttemptCheckout } from '../../ports/tasks/workloads.ts'
import type { CheckoutCredentials } from '../../ports/workspaces/checkouts.ts'
import { priorPathsOf } from '../../rules/tasks/task-bounds.ts'
import { type GitWorkspace, gitWorkspaceOf, repositoryUrl } from '../../rules/workspaces/git-workspace.ts'

type CheckoutDeps = {
  resources: ResourceReader
  secrets: Secrets
  codeHosts?: CodeHosts | undefined
  records: { results: Results }
}

/** Longest first line of a commit message. */
const longestSubject = 72
const longestResult = 10 * 1024 * 1024

/** NotFound when something that it needs does not exist (yet), InvalidRequest when it cannot be used; sentences. */
export async function resolveCheckout(deps: CheckoutDeps, task: Task): Promise<AttemptCheckout | undefined> {
  const workspace = gitWorkspaceOf(task.spec)
  if (workspace === undefined) return undefined
  const { gitRepo, gitSecretRef: _secret, ...places } = workspace
  const [credentials, priorDiff] = await Promise.all([
    readCredentials(deps, task, workspace),
    readPriorDiff(deps, task),
  ])
  const given = { url: gitRepo, ...places, credentials, priorDiff, priorPaths: priorPathsOf(task) }
  return { spec: dropUndefined(given), message: describeChange(task) }
}

async function readCredentials(
  { secrets, codeHosts }: Pick<CheckoutDeps, 'secrets' | 'codeHosts'>,
  { metadata, spec }: Task,
  { gitSecretRef }: GitWorkspace,
): Promise<CheckoutCredentials | undefined> {
  if (gitSecretRef === undefined) return undefined
  const key = { namespace: metadata.namespace, name: gitSecretRef.name }
  return readGitLogin(secrets, key, { owner: 'workspace.gitSecretRef', url: repositoryUrl(spec), codeHosts })
}

/** The changes of the task that comes before, which must have ended with a result. */
async function readPriorDiff({ resources, records }: CheckoutDeps, task: Task): Promise<string | undefined> {
  const reference = task.spec.priorTaskRef
  if (reference === undefined) return undefined
  const key = { namespace: reference.namespace ?? task.metadata.namespace, name: reference.name }
  const prior = await resources.get('Task', key)
  const what = `task "${key.name}" (spec.priorTaskRef)`
  if (prior === undefined) throw new SvcError('NotFound', `${what} does not exist in namespace "${key.namespace}"`)
  const { phase } = prior.status ?? {}
  if (!isTerminalPhase(phase)) throw new SvcError('NotFound', `${what} has not ended yet`)
  const text = await readResultText(records.results, { taskUid: prior.metadata.uid }, longestResult)
  const { diff, diffTruncated } = readStructuredResult(text ?? '')
  if (phase !== 'Succeeded' || diff === undefined) throw new SvcError('InvalidRequest', `${what} left no diff`)
  if (diffTruncated) throw new SvcError('InvalidRequest', `the diff of ${what} is incomplete, because it is too large`)
  return diff
}

function describeChange(task: Task): string {
  const [first = ''] = promptOf(task.spec).trim().split('\n', 1)
  const subject = first.length <= longestSubject ? first : `${first.slice(0, longestSubject - 3)}...`
  const { namespace, name } = task.metadata
  return `${subject || `Changes of task ${name}`}\n\nSvc-Task: ${namespace}/${name}`
}
