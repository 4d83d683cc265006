// What is staged in a workspace, scrubbed from it or run in it, stays inside: one rule for every provider.
import { normalizeInnerPath } from '../../lib/inner-path.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'

/** The path from the workspace's root on; ProtocolError for one that leads out of it, or to the root itself. */
export function requireInside(path: string): string {
  const inner = normalizeInnerPath(path)
  if (inner) return inner
  throw new WorkspaceError('ProtocolError', `${JSON.stringify(path)} is not a path inside the workspace`)
}
