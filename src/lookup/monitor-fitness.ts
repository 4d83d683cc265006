// Whether what a monitor names can do its work: the repository, the reviewer, and their Secrets. Asked before a monitor is
// stored, and again whenever it runs.
import type { Agent } from '../contract/kinds/agents/agent.ts'
import type { RepositoryMonitorSpec } from '../contract/kinds/monitors/repository-monitor.ts'
import { type Repository, readRepositoryUrl } from '../contract/values/repository-url.ts'
import type { Problem } from '../errors.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { codeHostEntryNames, readCodeHostEntries } from '../rules/codehost/login.ts'

const vendorKeys = ['VENDOR_API_KEY', 'VENDOR_FOUNDRY_API_KEY', 'ANTHROPIC_API_KEY', 'ANTHROPIC_FOUNDRY_API_KEY']

function hasAny(values: Record<string, string>, keys: readonly string[]): boolean {
  return keys.some((key) => (values[key] ?? '').trim() !== '')
}

/** Whether one of the entries is the key of a vendor that the command line of a reviewer can call (MON-072, MON-073). */
function hasVendorKey(values: Record<string, string>): boolean {
  return hasAny(values, vendorKeys)
}

type FitnessDeps = {
  resources: Pick<ResourceReader, 'get'>
  secrets: Pick<Secrets, 'read'>
  /** Hosts of the code host, lower-case. */
  hosts: readonly string[]
  /** Whether an agent of another namespace may be named. */
  isolateNamespaces: boolean
}

type Placed = { namespace: string; spec: RepositoryMonitorSpec }

/** A problem, and the reason by which the condition of the monitor names it. */
type Unfitness = Problem & { reason: string }

function findRepositoryProblem({ repoURL }: RepositoryMonitorSpec, hosts: readonly string[]): Unfitness[] {
  const read = readRepositoryUrl(repoURL, hosts)
  return 'problem' in read ? [{ path: 'repoURL', message: read.problem, reason: 'InvalidRepositoryURL' }] : []
}

async function findKeyProblem({ secrets }: FitnessDeps, agent: Agent, namespace: string): Promise<string | undefined> {
  const { secretRef } = agent.spec
  if (secretRef === undefined) {
    return 'needs spec.secretRef: the name of a secret with VENDOR_API_KEY or VENDOR_FOUNDRY_API_KEY'
  }
  const where = `secret "${secretRef.name}" in namespace "${namespace}", the namespace of the monitor,`
  const values = await secrets.read({ namespace, name: secretRef.name })
  if (values === undefined) return `needs the ${where} which does not exist; create it`
  if (hasVendorKey(values)) return undefined
  return `needs VENDOR_API_KEY or VENDOR_FOUNDRY_API_KEY in the ${where} which has neither; add one`
}

async function findReviewerProblem(deps: FitnessDeps, { namespace, spec }: Placed): Promise<Unfitness[]> {
  const ref = spec.agents?.reviewer
  const refuse = (reason: string, message: string): Unfitness[] => [{ path: 'agents.reviewer.name', message, reason }]
  if (ref === undefined) return refuse('MissingReviewerAgent', 'is required: the agent that reviews pull requests')
  const home = ref.namespace ?? namespace
  if (deps.isolateNamespaces && home !== namespace) {
    return refuse('ReviewerNamespaceInvalid', `must be an agent of namespace "${namespace}": namespaces are isolated`)
  }
  const agent = await deps.resources.get('Agent', { namespace: home, name: ref.name })
  const named = `agent "${ref.name}" in namespace "${home}"`
  if (agent === undefined) return refuse('ReviewerAgentNotFound', `names the ${named}, which does not exist; create it`)
  const type = agent.spec.runtime?.type
  if (type !== 'llma-cli') {
    const has = type === undefined ? 'has no runtime.type' : `has runtime.type ${type}`
    return refuse('UnsupportedReviewerAgent', `names the ${named}, which ${has}; it must be llma-cli`)
  }
  const problem = await findKeyProblem(deps, agent, namespace)
  return problem === undefined ? [] : refuse('ReviewerCredentialsInvalid', `names the ${named}, which ${problem}`)
}

async function findLoginProblem({ secrets }: FitnessDeps, { namespace, spec }: Placed): Promise<Unfitness[]> {
  if (spec.gitSecretRef === undefined) return []
  const { name } = spec.gitSecretRef
  const values = await secrets.read({ namespace, name })
  const refuse = (message: string): Unfitness[] => [{ path: 'gitSecretRef.name', message, reason: 'GitSecretInvalid' }]
  if (values === undefined) {
    return refuse(`names the secret "${name}", which does not exist in namespace "${namespace}"; create it`)
  }
  if (readCodeHostEntries(values) !== undefined) return []
  return refuse(`names the secret "${name}", which has a value under none of ${codeHostEntryNames}; add one`)
}

/** Every reason why the monitor cannot work as it is; paths are relative to the spec. */
export async function findUnfitness(deps: FitnessDeps, monitor: Placed): Promise<Unfitness[]> {
  return [
    ...findRepositoryProblem(monitor.spec, deps.hosts),
    ...(await findReviewerProblem(deps, monitor)),
    ...(await findLoginProblem(deps, monitor)),
  ]
}

/** The repository of a monitor that is fit. */
export function monitoredRepository(
  { repoURL }: RepositoryMonitorSpec,
  hosts: readonly string[],
): Repository | undefined {
  const read = readRepositoryUrl(repoURL, hosts)
  return 'repository' in read ? read.repository : undefined
}
