// What people do with findings: dismiss, reopen, have them validated and patched, open a pull request.
import { createHash } from 'node:crypto'
import type { DismissRequest, RemediationPullRequest } from '../../contract/api/scans/findings.ts'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { readGitAddress } from '../../contract/values/repository-url.ts'
import { SvcError } from '../../errors.ts'
import { openScanHost } from '../../lookup/scans.ts'
import { redactText } from '../../observability/redaction.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Finding, MatchedFinding, PatchProposal } from '../../ports/scans/findings.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import { dismiss, reopen, requireState } from '../../rules/scans/finding-state.ts'
import { describePullRequest } from '../../rules/scans/patch-check.ts'
import { nameScanTask, nameSecurityBranch } from '../../rules/scans/task-names.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { type FindingKey, findFinding } from './scan-access.ts'

export type FindingUsecases = {
  /** NotFound. */
  get(caller: Caller, key: FindingKey): Promise<Finding>
  /** NotFound; Conflict, which names the state. So do all that follow. */
  dismiss(caller: Caller, key: FindingKey, request: DismissRequest): Promise<void>
  reopen(caller: Caller, key: FindingKey): Promise<void>
  validate(caller: Caller, key: FindingKey): Promise<Finding>
  patch(caller: Caller, key: FindingKey): Promise<PatchProposal>
  listPatches(caller: Caller, key: FindingKey): Promise<PatchProposal[]>
  /** InvalidRequest without a patch that passed; the faults of the code host. */
  openPullRequest(caller: Caller, key: FindingKey): Promise<RemediationPullRequest>
}

function refusePast(until: string | undefined, now: string): void {
  if (until === undefined || until > now) return
  const message = 'must lie in the future'
  throw new SvcError('InvalidRequest', `invalid request: until ${message}`, { details: [{ path: 'until', message }] })
}

function markValidating(finding: Finding, run: { taskName: string; now: string }): Finding {
  requireState(finding, 'validate')
  if (finding.validationStatus === 'pending')
    throw new SvcError('Conflict', `cannot validate finding "${finding.id}": it is being validated already`)
  return { ...finding, validationStatus: 'pending', validationTaskName: run.taskName, updatedAt: run.now }
}

export function createFindingUsecases(deps: UsecaseDeps): FindingUsecases {
  const { ports } = deps
  const { findings } = ports.records
  const readNow = () => ports.clock.now().toISOString()

  async function change(caller: Caller, key: FindingKey, decide: (finding: Finding) => Finding): Promise<Finding> {
    await findFinding(deps, caller, key, 'update')
    const changed = await findings.change(key.namespace, key.id, decide)
    if (changed !== undefined) return changed
    throw new SvcError('NotFound', `finding not found: "${key.id}" in namespace "${key.namespace}"`)
  }

  return {
    get: async (caller, key) => (await findFinding(deps, caller, key, 'get')).finding,
    async dismiss(caller, key, { reason, until }) {
      const at = readNow()
      refusePast(until, at)
      const by = identifyCaller(caller).name
      const dismissal = { reason: redactText(reason), by, at, ...(until !== undefined && { until }) }
      await change(caller, key, (finding) => dismiss(finding, dismissal))
    },
    async reopen(caller, key) {
      const by = identifyCaller(caller).name
      await change(caller, key, (finding) => reopen(finding, { by, now: readNow() }))
    },
    async validate(caller, key) {
      const { finding } = await findFinding(deps, caller, key, 'update')
      const scope = `${key.id}-${ports.ids.hex(12)}`
      const taskName = nameScanTask(finding.repositoryScan, 'validation', scope)
      return change(caller, key, (one) => markValidating(one, { taskName, now: readNow() }))
    },
    async patch(caller, key) {
      const { finding, scanUid } = await findFinding(deps, caller, key, 'update')
      const { namespace, repositoryScan, commitSHA: baseCommit } = finding
      const taskName = nameScanTask(repositoryScan, 'patch', `${key.id}-${ports.ids.hex(12)}`)
      const id = `patch_${createHash('sha256').update(taskName).digest('hex').slice(0, 12)}`
      const branch = nameSecurityBranch(key.id, taskName)
      const draft = { id, namespace, repositoryScan, findingID: key.id, taskName, branch, baseCommit }
      return findings.proposePatch(scanUid, { ...draft, status: 'pending' }, (one) => {
        requireState(one, 'patch')
        return { ...one, state: 'patch_pending', patchProposalID: id, updatedAt: readNow() }
      })
    },
    async listPatches(caller, key) {
      await findFinding(deps, caller, key, 'get')
      return findings.listPatches(key.id)
    },
    async openPullRequest(caller, key) {
      return openPullRequest(deps, await findFinding(deps, caller, key, 'update'))
    },
  }
}

type Found = MatchedFinding & { scan: RepositoryScan }

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
