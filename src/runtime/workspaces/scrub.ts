// What a retained workspace must not hold when its attempt has ended: removed, then searched for.
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import type { WorkspaceHolder } from '../../ports/workspaces/workspace-records.ts'
import type { AttemptSecrets, WorkspaceAttempt, WorkspaceWorkloadsOptions } from './attempt.ts'
import { runShort } from './commands.ts'

/** Shorter ones are found in innocent words. */
const minSecretLength = 8
/** As grep says. */
const none = 1
const failed = 2

/** grep takes each line for a pattern: of a secret with several lines the longest stands for it. */
function toPatterns(secrets: readonly string[]): string[] {
  const lines = secrets.map((secret) => secret.split(/\r?\n/).toSorted((a, b) => b.length - a.length)[0] ?? '')
  return [...new Set(lines)].filter((line) => line.length >= minSecretLength)
}

/** Files that programs have removed meanwhile hold nothing. */
function saysOnlyVanished(complaints: string): boolean {
  return complaints.split('\n').every((line) => line === '' || line.endsWith(': No such file or directory'))
}

/** Paths of files that hold one of the secrets, relative to the root. */
async function findLeaks(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  patterns: string[],
): Promise<string[]> {
  if (patterns.length === 0) return []
  const { workspaces, facts } = attempt
  const end = await runShort({ ...options, workspaces }, facts.claim, {
    command: ['grep', '-rlaFZ', '-f', '-', '.'],
    stdin: Buffer.from(patterns.map((pattern) => `${pattern}\n`).join('')),
  })
  const isWhole = end.exitCode <= none || (end.exitCode === failed && saysOnlyVanished(end.stderr))
  if (!isWhole || end.truncated) {
    throw new WorkspaceError('ProtocolError', `the workspace could not be searched: ${end.stderr.trim().slice(-300)}`)
  }
  return end.stdout.split('\0').flatMap((path) => (path === '' ? [] : [path.replace(/^\.\//, '')]))
}

function describeLeaks(leaks: string[]): string {
  const named = leaks.slice(0, 20).join(', ')
  return `[removed from the workspace, because a secret of the task was in it: ${named}${leaks.length > 20 ? ', …' : ''}]`
}

/** Ends what runs, and rejects when it cannot be shown that none of the secrets is left. */
async function scrubWhole(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { paths, patterns }: Scrub,
): Promise<void> {
  const { workspaces, facts, holder } = attempt
  await workspaces.scrub(facts.claim, paths)
  const leaks = await findLeaks(options, attempt, patterns)
  if (leaks.length === 0) return
  await options.onLog(holder, [describeLeaks(leaks)])
  await workspaces.scrub(facts.claim, leaks)
  const left = await findLeaks(options, attempt, patterns)
  if (left.length > 0) throw new WorkspaceError('ProtocolError', `a secret of the task stays in ${left[0]}`)
}

/** False when something speaks against the programs that the attempt has left. */
async function scrubAround(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { paths, patterns }: Scrub,
): Promise<boolean> {
  const { workspaces, facts } = attempt
  await workspaces.scrub(facts.claim, paths, { keepsPrograms: true })
  // Nothing speaks for programs that hold up the search.
  const leaks = await findLeaks(options, attempt, patterns).catch(() => undefined)
  return leaks?.length === 0
}

/** Of an attempt that an earlier process began. */
async function findSecrets(options: WorkspaceWorkloadsOptions, holder: WorkspaceHolder): Promise<AttemptSecrets> {
  const lasting = await options.findSecrets(holder)
  if (lasting === undefined) throw new WorkspaceError('WorkspaceLost', 'it is not known any more what to search for')
  return { own: [], lasting }
}

type Scrub = { paths: readonly string[]; patterns: string[] }

/**
 * Programs that the attempt has left go on, for the next one of the session, when it has succeeded and was given no Secret:
 * they may hold any that it was given, in whatever form. Rejects when it cannot be shown that none of the secrets is left:
 * the workspace must then be deleted.
 */
export async function scrubWorkspace(
  options: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  { paths, isSuccess }: { paths: readonly string[]; isSuccess: boolean },
): Promise<void> {
  const { holder } = attempt
  const secrets = attempt.secrets ?? (await findSecrets(options, holder))
  const keepsPrograms = isSuccess && attempt.secrets?.lasting.length === 0
  const scrub = { paths, patterns: toPatterns([...secrets.own, ...secrets.lasting]) }
  if (keepsPrograms && (await scrubAround(options, attempt, scrub))) return
  await scrubWhole(options, attempt, scrub)
}
