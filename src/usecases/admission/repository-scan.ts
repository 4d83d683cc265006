// What a scan needs before it is stored: policies that can be used, and names that are read from its address.
import { readPolicies } from '../../catalog/scan-policies.ts'
import { readGitAddress } from '../../contract/git-address.ts'
import type { RepositoryScanSpec } from '../../contract/resources/repository-scan.ts'
import type { UsecaseDeps } from '../deps.ts'
import type { AdmissionRequest, Admitted } from './request.ts'

/** Owner and name, of an address that has both. */
function namesOf({ repoURL, owner, repository }: RepositoryScanSpec) {
  const parts =
    readGitAddress(repoURL)
      ?.pathname.split('/')
      .filter((part) => part !== '') ?? []
  const [first, second] = parts.length === 2 ? parts : []
  return { owner: owner ?? first, repository: repository ?? second?.replace(/\.git$/, '') }
}

/** Only in the namespace of the scan; InvalidRequest for one that is no policy. */
export async function requirePolicies(
  { namespace, spec }: AdmissionRequest<'RepositoryScan'>,
  { ports }: UsecaseDeps,
): Promise<void> {
  await readPolicies(ports.configMaps, namespace, spec)
}

export function admitScan({ spec }: AdmissionRequest<'RepositoryScan'>): Admitted {
  const { branch, prBaseBranch } = spec
  return { spec: { ...namesOf(spec), prBaseBranch: prBaseBranch ?? branch } }
}
