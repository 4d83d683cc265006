// The git repository that a task works in.
import type { Workspace } from '../../contract/kinds/tasks/execution.ts'
import type { TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { readGitAddress } from '../../contract/values/repository-url.ts'

/** A workspace that names a repository. */
export type GitWorkspace = Workspace & { gitRepo: string }

/** Undefined when the task works in an empty folder. */
export function gitWorkspaceOf(spec: Pick<TaskSpec, 'workspace' | 'agentRuntime'>): GitWorkspace | undefined {
  const workspace = spec.workspace ?? spec.agentRuntime?.workspace
  return workspace?.gitRepo === undefined ? undefined : { ...workspace, gitRepo: workspace.gitRepo }
}

/** What is dialled, and gets the credentials. */
export function repositoryUrl(spec: Pick<TaskSpec, 'workspace' | 'agentRuntime'>): URL | undefined {
  return readGitAddress(gitWorkspaceOf(spec)?.gitRepo ?? '')
}

const tokenKeys = ['CODEHOST_TOKEN', 'GITHUB_TOKEN', 'token', 'password'] as const

/** Of a Secret's entries; undefined when it has none of the known ones. */
export function readGitCredentials(
  entries: Record<string, string>,
): { username?: string; password: string } | undefined {
  const password = tokenKeys.map((key) => entries[key]?.trim()).find((value) => value !== undefined && value !== '')
  if (password === undefined) return undefined
  const username = entries.username?.trim()
  return username === undefined || username === '' ? { password } : { username, password }
}

/** For messages. */
export const gitCredentialKeys: readonly string[] = tokenKeys
