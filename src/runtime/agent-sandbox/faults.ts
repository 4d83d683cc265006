// Errors of the cluster as the reasons of the port.
import { isSvcError, messageOf } from '../../errors.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'

const install =
  'agent-sandbox is not installed on this cluster: apply the manifests of a release of kubernetes-sigs/agent-sandbox, those of its extensions too'

/** `NotFound` is the caller's to judge: of what, only it knows. */
export function explainClusterFault(error: unknown): Error {
  if (error instanceof WorkspaceError) return error
  if (isSvcError(error, 'NotConfigured')) return new WorkspaceError('ProviderUnavailable', install, { cause: error })
  if (isSvcError(error, 'Unavailable') || isSvcError(error, 'Forbidden')) {
    return new WorkspaceError('ProviderUnavailable', messageOf(error), { cause: error })
  }
  if (isSvcError(error, 'InvalidRequest')) {
    const message = `the cluster refuses what agent-sandbox is asked for: ${messageOf(error)}`
    return new WorkspaceError('ProtocolError', message, { cause: error })
  }
  return error instanceof Error ? error : new Error(messageOf(error))
}
