// Who may act inside an execution workspace: what its tasks were given lies there for whoever does.
import type { CallerIdentity } from '../../contract/api/identity/caller.ts'
import { callerKey } from '../identity/caller-identity.ts'

type SecretName = { namespace: string; name: string }

/** `owner`: namespace of its tasks. An earlier version recorded neither of the facts. */
type Workspace = { owner: string; facts: { requester?: string; secrets?: readonly SecretName[] } }

/**
 * The Secrets that the caller needs the right to; without a name: all of that namespace. Whoever asked for the tasks needs
 * none: what they were given is theirs.
 */
export function listNeededSecrets(
  { owner, facts: { requester, secrets } }: Workspace,
  caller: CallerIdentity,
): readonly (Omit<SecretName, 'name'> & Partial<SecretName>)[] {
  if (requester === callerKey(caller)) return []
  return secrets ?? [{ namespace: owner }]
}
