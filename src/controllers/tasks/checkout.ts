// What is checked out for a task (address, credentials, the changes of the task before it), and what it has changed.
import { Readable } from 'node:stream'
import {
  readStructuredResult,
  type StructuredResult,
  structuredResultType,
} from '../../contract/api/tasks/structured-result.ts'
import { isTerminalPhase, promptOf, type Task } from '../../contract/kinds/tasks/task.ts'
import { contentTypeOf } from '../../contract/values/content-type.ts'
import { SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { readGitLogin } from '../../lookup/logins.ts'
import { readResultText } from '../../lookup/result-text.ts'
import type { CodeHosts } from '../../ports/codehost/code-host.ts'
import type { ResourceReader } from '../../ports/resources/resources.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import type { Artifacts, Results } from '../../ports/tasks/outputs.ts'
import type { AttemptCheckout, AttemptKey, CheckoutChanges, CommandOutput } from '../../ports/tasks/workloads.ts'
import type { CheckoutCredentials } from '../../ports/workspaces/checkouts.ts'
import { priorPathsOf } from '../../rules/tasks/bounds.ts'
import { type GitWorkspace, gitWorkspaceOf, repositoryUrl } from '../../rules/workspaces/git-workspace.ts'

/** Of what was said; the log has all of it. */
const maxAnswerLength = 1024 * 1024

/** `output`: of a command; what a worker says is its result so far. */
type AttemptChanges = { changes: CheckoutChanges; output?: CommandOutput | undefined }

/** Replaces the result of the attempt, and may be called again. */
export async function saveChanges(
  results: Results,
  key: AttemptKey,
  { changes, output }: AttemptChanges,
): Promise<void> {
  const answer = output?.text ?? (await readResultText(results, key, maxAnswerLength)) ?? ''
  const result = combine(readStructuredResult(answer), changes)
  await results.put(key, Readable.from([Buffer.from(JSON.stringify(result))]), structuredResultType)
}

/** Keeps the diff of an attempt that has not succeeded beside the other files of its task. */
export async function saveDiff(artifacts: Artifacts, key: AttemptKey, filename: string, diff: string): Promise<void> {
  const contentType = contentTypeOf(filename)
  await artifacts.put(key, { filename, contentType, body: Readable.from([Buffer.from(diff)]) })
}

/** What the service alone says: neither a program's claims nor an earlier state of the push are kept. */
const unsaid = {
  headSHA: undefined,
  branch: undefined,
  pushBranch: undefined,
  pushError: undefined,
} satisfies Partial<StructuredResult>

function combine(answer: StructuredResult, { diff, ...changes }: CheckoutChanges): StructuredResult {
  return dropUndefined({
    ...answer,
    ...unsaid,
    ...changes,
    diff: diff.text,
    diffTruncated: diff.truncated || undefined,
    files: diff.files.map(({ path }) => path),
  })
}

type CheckoutDeps = {
  resources: ResourceReader
  secrets: Secrets
  codeHosts?: CodeHosts | undefined
  records: { results: Results }
}

/** Longest first line of a commit message. */
const maxSubjectLength = 72
const maxResultLength = 10 * 1024 * 1024

/** NotFound when something that it needs does not exist (yet), InvalidRequest when it cannot be used; sentences. */
export async function resolveCheckout(deps: CheckoutDeps, task: Task): Promise<AttemptCheckout | undefined> {
  const workspace = gitWorkspaceOf(task.spec)
  if (workspace === undefined) return undefined
  const { gitRepo, gitSecretRef: _secret, ...source } = workspace
  const [credentials, priorDiff] = await Promise.all([
    readCredentials(deps, task, workspace),
    readPriorDiff(deps, task),
  ])
  const draft = { url: gitRepo, ...source, credentials, priorDiff, priorPaths: priorPathsOf(task) }
  return { spec: dropUndefined(draft), message: describeChange(task) }
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
  const text = await readResultText(records.results, { taskUid: prior.metadata.uid }, maxResultLength)
  const { diff, diffTruncated } = readStructuredResult(text ?? '')
  if (phase !== 'Succeeded' || diff === undefined) throw new SvcError('InvalidRequest', `${what} left no diff`)
  if (diffTruncated) throw new SvcError('InvalidRequest', `the diff of ${what} is incomplete, because it is too large`)
  return diff
}

function describeChange(task: Task): string {
  const [first = ''] = promptOf(task.spec).trim().split('\n', 1)
  const subject = first.length <= maxSubjectLength ? first : `${first.slice(0, maxSubjectLength - 3)}...`
  const { namespace, name } = task.metadata
  return `${subject || `Changes of task ${name}`}\n\nSvc-Task: ${namespace}/${name}`
}
