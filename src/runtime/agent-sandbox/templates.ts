// What a claim refers to: a template of its own namespace, and from v1beta1 on the warm pool that has that template.
import { orAbsent, unlessExists } from '../../cluster/api/failures.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import type { WorkspaceClaim } from '../../ports/workspaces/execution-workspaces.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { chooseContainer, claimComponent, claimLabels, type SandboxTemplate, type SandboxWarmPool } from './objects.ts'
import type { Installed } from './reader.ts'

/** `template`: a claim takes a sandbox that waits in a warm pool of its template. */
export type WarmPoolPolicy = 'disabled' | 'template'

export type TemplateParts = { api: KubernetesApi; warmPoolPolicy: WarmPoolPolicy; instance: string }

function checkTemplate({ metadata, spec = {} }: SandboxTemplate): void {
  const name = `SandboxTemplate ${metadata.namespace}/${metadata.name}`
  if (metadata.deletionTimestamp !== undefined) {
    throw new WorkspaceError('TemplateNotReady', `${name} is being deleted`)
  }
  if (chooseContainer(spec) === undefined) {
    throw new WorkspaceError('TemplateIncompatible', `${name} has no container to run programs in`)
  }
  if (spec.podTemplate?.spec?.hostPID) {
    const why = 'it shares the processes of its node (hostPID), which are not to be seen or ended by an agent'
    throw new WorkspaceError('TemplateIncompatible', `${name} cannot be used: ${why}`)
  }
}

function checkNamespace({ namespace, template }: WorkspaceClaim): void {
  if (template.namespace === namespace) return
  const message = `SandboxTemplate ${template.namespace}/${template.name} is of another namespace than its claim, which is made in ${namespace}: agent-sandbox looks for templates there only`
  throw new WorkspaceError('TemplateIncompatible', message)
}

const ready = ({ status }: SandboxWarmPool) => status?.readyReplicas ?? 0

function choosePool(pools: SandboxWarmPool[]): SandboxWarmPool | undefined {
  const inOrder = pools
    .filter(({ metadata, spec }) => metadata.deletionTimestamp === undefined && (spec?.replicas ?? 1) > 0)
    .toSorted((a, b) => ready(b) - ready(a) || a.metadata.name.localeCompare(b.metadata.name))
  return inOrder[0]
}

const templateOf = ({ spec }: SandboxWarmPool) => spec?.sandboxTemplateRef?.name

/** A pool in which nothing waits: through it a claim of v1beta1 names a template alone. It goes with its template. */
async function ensureEmptyPool(
  { api, instance }: TemplateParts,
  { collections, version }: Installed,
  { metadata }: SandboxTemplate,
): Promise<string> {
  const { name: template, namespace, uid } = metadata
  const name = `svc-cold-${template}`.slice(0, 253)
  const apiVersion = `${collections.pools.group}/${version}`
  const body = {
    apiVersion,
    kind: 'SandboxWarmPool',
    metadata: {
      name,
      namespace,
      labels: { [claimLabels.instance]: instance, [claimLabels.component]: claimComponent },
      ownerReferences: [{ apiVersion, kind: 'SandboxTemplate', name: template, uid }],
    },
    spec: { replicas: 0, sandboxTemplateRef: { name: template } },
  }
  await unlessExists(api.request({ verb: 'create', collection: collections.pools, namespace, body }))
  return name
}

type Lookup = {
  template(name: string): Promise<SandboxTemplate | undefined>
  pools(): Promise<SandboxWarmPool[]>
}

function createLookup({ api }: TemplateParts, { collections }: Installed, namespace: string): Lookup {
  return {
    template: (name) =>
      orAbsent(api.request<SandboxTemplate>({ verb: 'get', collection: collections.templates, namespace, name })),
    async pools() {
      const request = { verb: 'list' as const, collection: collections.pools, namespace }
      return (await api.request<{ items: SandboxWarmPool[] }>(request)).items
    },
  }
}

function failMissing({ template: { namespace, name } }: WorkspaceClaim): never {
  const message = `there is no SandboxTemplate ${name} in the namespace ${namespace}: kubectl get sandboxtemplates -n ${namespace}`
  throw new WorkspaceError('TemplateNotFound', message)
}

async function referByTemplate(lookup: Lookup, claim: WorkspaceClaim, policy: WarmPoolPolicy): Promise<object> {
  const { name } = claim.template
  checkTemplate((await lookup.template(name)) ?? failMissing(claim))
  return { sandboxTemplateRef: { name }, warmpool: policy === 'template' ? 'default' : 'none' }
}

/** The template of that name; or of the pool of that name, because people of v1beta1 name the pool. */
async function resolveTemplate(
  lookup: Lookup,
  claim: WorkspaceClaim,
  { direct, pools }: { direct: SandboxTemplate | undefined; pools: SandboxWarmPool[] },
) {
  const { name } = claim.template
  const named = direct === undefined ? pools.find(({ metadata }) => metadata.name === name) : undefined
  const indirect = named && (await lookup.template(templateOf(named) ?? ''))
  const template = direct ?? indirect ?? failMissing(claim)
  checkTemplate(template)
  return { template, named }
}

/** The part of a claim's spec that says what it is to be given. Rejects with a reason of the template. */
export async function referToTemplate(
  parts: TemplateParts,
  installed: Installed,
  claim: WorkspaceClaim,
): Promise<object> {
  checkNamespace(claim)
  const lookup = createLookup(parts, installed, claim.namespace)
  const policy = parts.warmPoolPolicy
  if (installed.version === 'v1alpha1') return referByTemplate(lookup, claim, policy)
  const [direct, pools] = await Promise.all([lookup.template(claim.template.name), lookup.pools()])
  const { template, named } = await resolveTemplate(lookup, claim, { direct, pools })
  const suitable = pools.filter((pool) => templateOf(pool) === template.metadata.name)
  const pool = policy === 'template' ? (named ?? choosePool(suitable)) : undefined
  return { warmPoolRef: { name: pool?.metadata.name ?? (await ensureEmptyPool(parts, installed, template)) } }
}
