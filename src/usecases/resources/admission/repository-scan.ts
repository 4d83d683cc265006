// What a scan needs before it is stored: policies that can be used, and names that are read from its address.
import type { RepositoryScanSpec } from '../../../contract/kinds/scans/repository-scan.ts'
import { refuse } from '../../../contract/schema/validation.ts'
import { readGitAddress } from '../../../contract/values/repository-url.ts'
import { SvcError } from '../../../errors.ts'
import { findUnfitness, monitoredRepository } from '../../../lookup/monitor-fitness.ts'
import { readPolicies } from '../../../lookup/scans.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
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

/** InvalidRequest for an agent that runs a program, as far as it exists already: runs ask again. */
async function refusePrograms(
  { namespace, spec }: AdmissionRequest<'RepositoryScan'>,
  { ports }: UsecaseDeps,
): Promise<void> {
  for (const field of ['analysisAgentRef', 'patchAgentRef'] as const) {
    const ref = spec[field]
    const agent = ref && (await ports.resources.get('Agent', { namespace: ref.namespace ?? namespace, name: ref.name }))
    if (agent?.spec.runtime === undefined) continue
    const message = `names an agent that runs a program, which has the network of its machine; name one without a runtime`
    throw new SvcError('InvalidRequest', `invalid repository scan: spec.${field} ${message}`, {
      details: [{ path: `spec.${field}`, message }],
    })
  }
}

export async function admitScan(request: AdmissionRequest<'RepositoryScan'>, deps: UsecaseDeps): Promise<Admitted> {
  const { namespace, spec } = request
  await readPolicies(deps.ports.configMaps, namespace, spec)
  await refusePrograms(request, deps)
  const { branch, prBaseBranch } = spec
  return { spec: { ...namesOf(spec), prBaseBranch: prBaseBranch ?? branch } }
}

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
  const { owner, name: repository } = monitoredRepository(request.spec, hosts) ?? {}
  return { spec: { owner, repository } }
}
