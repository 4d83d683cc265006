// The pull request that repairs a finding: opened once, of the newest patch that passed.

import type { RemediationPullRequest } from '../../contract/api/scans/finding-routes.ts'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { readGitAddress } from '../../contract/values/git-address.ts'
import { SvcError } from '../../errors.ts'
import { openScanHost } from '../../lookup/scan-code-host.ts'
import type { Finding, KeptFinding, PatchProposal } from '../../ports/scans/findings.ts'
import { requireState } from '../../rules/scans/finding-state.ts'
import { describePullRequest } from '../../rules/scans/pull-request-text.ts'
import type { UsecaseDeps } from '../service/deps.ts'

type Found = KeptFinding & { scan: RepositoryScan }

function choosePatch({ id }: Finding, patches: readonly PatchProposal[]): PatchProposal {
  const patch = patches.find(({ status }) => status === 'succeeded' || status === 'pr_opened')
  if (patch !== undefined) return patch
  const why = patches[0]?.failure
  const message = `no successful patch proposal available for finding "${id}": have a patch written first`
  throw new SvcError('InvalidRequest', why === undefined ? message : `${message} (the last one failed: ${why})`)
}

/** Where the branch was pushed: a fork has its owner before the name. */
function headOf({ forkRepo }: RepositoryScan['spec'], branch: string): string {
  const owner = forkRepo && readGitAddress(forkRepo)?.pathname.split('/')[1]
  return owner ? `${owner}:${branch}` : branch
}

/** One branch has one pull request, whatever became of it: it may have been opened, and the service ended before it knew. */
async function ensure({ ports }: UsecaseDeps, { finding, scan }: Found, patch: PatchProposal) {
  const host = openScanHost(ports, scan, { what: 'no pull request can be opened' })
  const { prBaseBranch, branch } = scan.spec
  const head = headOf(scan.spec, patch.branch)
  const [pullRequest] = await host.findPullRequests({ head })
  if (pullRequest !== undefined) return { pullRequest, created: false }
  const base = prBaseBranch ?? branch ?? (await host.getRepository()).defaultBranch
  return host.createPullRequest({ head, base, ...describePullRequest(finding, patch) })
}

/** InvalidRequest without a patch that passed; Conflict in other states; the faults of the code host. */
export async function openPullRequest(deps: UsecaseDeps, found: Found): Promise<RemediationPullRequest> {
  const { finding } = found
  const { findings } = deps.ports.records
  const { prNumber, prURL } = finding
  if (finding.state === 'pr_open' && prNumber !== undefined && prURL !== undefined)
    return { prNumber, prURL, status: 'existing' }
  const patch = choosePatch(finding, await findings.listPatches(finding.id))
  requireState(finding, 'open a pull request for')
  const { pullRequest, created } = await ensure(deps, found, patch)
  const pr = { prNumber: pullRequest.number, prURL: pullRequest.url }
  const updatedAt = deps.ports.clock.now().toISOString()
  await findings.decidePatch(finding.id, patch.id, (one, now) => ({
    patch: { ...one, ...pr, status: 'pr_opened' },
    finding: { ...now, ...pr, updatedAt, ...(now.state === 'patch_ready' && { state: 'pr_open', prState: 'open' }) },
  }))
  return { ...pr, status: created ? 'created' : 'existing' }
}
