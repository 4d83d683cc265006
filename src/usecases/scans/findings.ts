// What people do with findings: dismiss, reopen, have them validated and patched, open a pull request.
import { createHash } from 'node:crypto'
import type { DismissRequest, RemediationPullRequest } from '../../contract/api/scans/finding-routes.ts'
import { SvcError } from '../../errors.ts'
import { redactText } from '../../observability/redaction.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Finding, PatchProposal } from '../../ports/scans/findings.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import { dismiss, reopen, requireState } from '../../rules/scans/finding-state.ts'
import { nameScanTask, nameSecurityBranch } from '../../rules/scans/task-names.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { openPullRequest } from './pull-request.ts'
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

function markValidating(finding: Finding, given: { taskName: string; now: string }): Finding {
  requireState(finding, 'validate')
  if (finding.validationStatus === 'pending')
    throw new SvcError('Conflict', `cannot validate finding "${finding.id}": it is being validated already`)
  return { ...finding, validationStatus: 'pending', validationTaskName: given.taskName, updatedAt: given.now }
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
