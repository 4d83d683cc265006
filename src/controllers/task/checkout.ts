// What is checked out for a task: address, credentials, and the changes of the task before it.
import { readGitLogin } from '../../catalog/git-login.ts'
import { readResultText } from '../../catalog/result-text.ts'
import { readStructuredResult } from '../../contract/api/structured-result.ts'
import { dropUndefined } from '../../contract/json.ts'
import { isTerminalPhase, promptOf, type Task } from '../../contract/resources/task.ts'
import { SvcError } from '../../errors.ts'
import type { CheckoutCredentials } from '../../ports/checkouts.ts'
import type { CodeHosts } from '../../ports/code-host.ts'
import type { ResourceReader } from '../../ports/resources.ts'
import type { Results } from '../../ports/results.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { AttemptCheckout } from '../../ports/workloads.ts'
import { type GitWorkspace, gitWorkspaceOf, repositoryUrl } from '../../rules/git-workspace.ts'
import { priorPathsOf } from '../../rules/task-bounds.ts'

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
