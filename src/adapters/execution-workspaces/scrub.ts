// What a retained workspace must not hold when its attempt has ended: removed, then searched for.
import { WorkspaceError } from '../../ports/execution-workspaces.ts'
import type { Held, WorkspaceWorkloadsOptions } from './held.ts'
import { runShort } from './short-command.ts'

/** Shorter ones are found in innocent words. */
const shortestSecret = 8
const none = 1

/** grep takes each line for a pattern: of a secret with several lines the longest stands for it. */
function toPatterns(secrets: readonly string[]): string[] {
  const lines = secrets.map((secret) => secret.split(/\r?\n/).toSorted((a, b) => b.length - a.length)[0] ?? '')
  return [...new Set(lines)].filter((line) => line.length >= shortestSecret)
}

/** Paths of files that hold one of the secrets, relative to the root. */
async function findLeaks(options: WorkspaceWorkloadsOptions, held: Held, patterns: string[]): Promise<string[]> {
  const { workspaces, facts } = held
  const end = await runShort({ ...options, workspaces }, facts.claim, {
    command: ['grep', '-rlaFZ', '-f', '-', '.'],
    stdin: Buffer.from(patterns.map((pattern) => `${pattern}\n`).join('')),
  })
  if (end.exitCode > none || end.truncated) {
    throw new WorkspaceError('ProtocolError', `the workspace could not be searched: ${end.stderr.trim().slice(-300)}`)
  }
  return end.stdout.split('\0').flatMap((path) => (path === '' ? [] : [path.replace(/^\.\//, '')]))
}

function describeLeaks(leaks: string[]): string {
  const named = leaks.slice(0, 20).join(', ')
  return `[removed from the workspace, because a secret of the task was in it: ${named}${leaks.length > 20 ? ', …' : ''}]`
}

/** Rejects when it cannot be shown that none of the secrets is left: the workspace must then be deleted. */
export async function scrubWorkspace(
  options: WorkspaceWorkloadsOptions,
  held: Held,
  paths: readonly string[],
): Promise<void> {
  const { workspaces, facts, holder } = held
  const secrets = held.secrets ?? (await options.findSecrets(holder))
  if (secrets === undefined) throw new WorkspaceError('WorkspaceLost', 'it is not known any more what to search for')
  await workspaces.scrub(facts.claim, paths)
  const patterns = toPatterns(secrets)
  if (patterns.length === 0) return
  const leaks = await findLeaks(options, held, patterns)
  if (leaks.length === 0) return
  await options.onLog(holder, [describeLeaks(leaks)])
  await workspaces.scrub(facts.claim, leaks)
  const left = await findLeaks(options, held, patterns)
  if (left.length > 0) throw new WorkspaceError('ProtocolError', `a secret of the task stays in ${left[0]}`)
}
