// Monitors: what they name must exist and be able to do the work, and owner and repository come from the address.

import { refuse } from '../../../contract/schema/validation.ts'
import { findUnfitness, repositoryOf } from '../../../lookup/monitor-fitness.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import type { AdmissionRequest, Admitted } from './request.ts'

/** InvalidRequest with everything that keeps the monitor from working (MON-009, MON-054..073). */
export async function admitMonitor(
  request: AdmissionRequest<'RepositoryMonitor'>,
  deps: UsecaseDeps,
): Promise<Admitted> {
  const hosts = deps.ports.codeHosts.hosts
  const { resources, secrets } = deps.ports
  const isolateNamespaces = deps.settings.isolateNamespaces ?? false
  const problems = await findUnfitness({ resources, secrets, hosts, isolateNamespaces }, request)
  refuse(
    'repository monitor',
    problems.map(({ path, message }) => ({ path: `spec.${path}`, message })),
  )
  const { owner, name: repository } = repositoryOf(request.spec, hosts) ?? {}
  return { spec: { owner, repository } }
}
