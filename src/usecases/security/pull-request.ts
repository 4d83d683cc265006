// The pull request that repairs a finding: opened once, of the newest patch that passed.
import { openCodeHost } from '../../catalog/code-host-login.ts'
import type { RemediationPullRequest } from '../../contract/api/security/finding-routes.ts'
import { readGitAddress } from '../../contract/git-address.ts'
import { readRepositoryUrl } from '../../contract/repository-url.ts'
import type { RepositoryScan } from '../../contract/resources/repository-scan.ts'
import { SvcError } from '../../errors.ts'
import type { CodeHost } from '../../ports/code-host.ts'
import type { Finding, KeptFinding, PatchProposal } from '../../ports/findings.ts'
import { requireState } from '../../rules/scans/finding-state.ts'
import { describePullRequest } from '../../rules/scans/pull-request-text.ts'
import type { UsecaseDeps } from '../deps.ts'

type Found = KeptFinding & { scan: RepositoryScan }

function openHost({ ports }: UsecaseDeps, { metadata: { namespace }, spec }: RepositoryScan): CodeHost {
  const { repoURL, gitSecretRef } = spec
  const read = readRepositoryUrl(repoURL, ports.codeHosts.hosts)
  if ('problem' in read)
    throw new SvcError('InvalidRequest', `no pull request can be opened: spec.repoURL ${read.problem}`)
  if (gitSecretRef === undefined)
    throw new SvcError('InvalidRequest', 'no pull request can be opened: set spec.gitSecretRef of the scan to a login')
  const secret = { namespace, name: gitSecretRef.name }
  return openCodeHost(ports, { secret, repository: read.repository, owner: 'spec.gitSecretRef' })
}

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

async function create(deps: UsecaseDeps, { finding, scan }: Found, patch: PatchProposal) {
  const host = openHost(deps, scan)
  const { prBaseBranch, branch } = scan.spec
  const base = prBaseBranch ?? branch ?? (await host.getRepository()).defaultBranch
  const { title, body } = describePullRequest(finding, patch)
  return host.createPullRequest({ head: headOf(scan.spec, patch.branch), base, title, body })
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
  const { pullRequest, created } = await create(deps, found, patch)
  const pr = { prNumber: pullRequest.number, prURL: pullRequest.url }
  const updatedAt = deps.ports.clock.now().toISOString()
  await findings.decidePatch(finding.id, patch.id, (one, now) => ({
    patch: { ...one, ...pr, status: 'pr_opened' },
    finding: { ...now, ...pr, updatedAt, state: now.state === 'patch_ready' ? 'pr_open' : now.state },
  }))
  return { ...pr, status: created ? 'created' : 'existing' }
}
