// The network policy of one sandbox: it selects the pod by the claim, whose uid the controller of agent-sandbox writes on it.
import { unlessGone } from '../../cluster/api/failures.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { applyPolicy, makeClaimPolicy, nameClaimPolicy } from '../jobs/network-policies.ts'
import { networkPolicies } from '../jobs/objects.ts'
import type { PodGate } from '../jobs/pod-gate.ts'
import { type ClaimParts, nameClaim } from './claims.ts'

/** WorkspaceLost when the claim is gone. */
export async function limitClaim(
  { api, reader, instance, gate }: ClaimParts & { gate: PodGate },
  { namespace, name }: ResourceKey,
  isLimited: boolean,
): Promise<void> {
  if (!isLimited) {
    const policy = { collection: networkPolicies, namespace, name: nameClaimPolicy(instance, name) }
    return unlessGone(api.request({ verb: 'delete', ...policy }))
  }
  const [claim, { collections }, { reach }] = await Promise.all([
    reader.claim({ namespace, name }),
    reader.find(),
    gate.prepare(),
  ])
  if (claim === undefined) throw new WorkspaceError('WorkspaceLost', `${nameClaim({ namespace, name })} is gone`)
  const { group, version } = collections.claims
  const owner = { name, uid: claim.metadata.uid, apiVersion: `${group}/${version}` }
  await applyPolicy(api, makeClaimPolicy({ namespace, instance }, owner, reach))
}
