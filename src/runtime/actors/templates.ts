// Reads the templates and pools of actors, which other controllers of the cluster own (group ate.dev), and says whether
// a claim can become an actor.
import { orAbsent } from '../../cluster/api/failures.ts'
import type { KubernetesApi } from '../../cluster/api.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { type WorkspaceClaim, WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import {
  type ActorPool,
  type ActorTemplate,
  actorPoolLabel,
  findPoolProblem,
  findTemplateProblem,
  type TemplateProblem,
} from '../../rules/workspaces/actor-templates.ts'

export interface ActorTemplates {
  /** Undefined when there is none. */
  template(key: ResourceKey): Promise<ActorTemplate | undefined>
  pool(key: ResourceKey): Promise<ActorPool | undefined>
}

const group = { group: 'ate.dev', version: 'v1alpha1' }

type Metadata = {
  name: string
  namespace: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}
type TemplateObject = {
  metadata: Metadata
  spec?: { containers?: { env?: { name: string }[] }[] }
  status?: { phase?: string }
}

function describe({ name, namespace, labels = {}, annotations = {} }: Metadata) {
  return { name, namespace, labels, annotations }
}

export function createActorTemplates(api: Pick<KubernetesApi, 'request'>): ActorTemplates {
  const find = <T>(plural: string, key: ResourceKey) =>
    orAbsent(api.request<T>({ verb: 'get', collection: { ...group, plural }, ...key }))
  return {
    async template(key) {
      const found = await find<TemplateObject>('actortemplates', key)
      if (found === undefined) return undefined
      const variables = (found.spec?.containers ?? []).map(({ env = [] }) => env.map(({ name }) => name))
      return { ...describe(found.metadata), variables, phase: found.status?.phase ?? '' }
    },
    async pool(key) {
      const found = await find<{ metadata: Metadata }>('workerpools', key)
      return found === undefined ? undefined : describe(found.metadata)
    },
  }
}

type Claimed = Pick<WorkspaceClaim, 'namespace' | 'template' | 'pool' | 'program'>

export interface ActorClaims {
  /** Rejects with TemplateNotFound. */
  readTemplate(key: ResourceKey): Promise<ActorTemplate>
  /** Rejects with TemplateNotFound and TemplateIncompatible; `unready`: it may become usable. */
  requireTemplate(claim: Claimed): Promise<ActorTemplate & { unready?: TemplateProblem }>
  /** The labels that tie an actor to the pool of the claim. Rejects with PoolIncompatible. */
  requirePool(claim: Claimed): Promise<Record<string, string>>
}

const show = ({ namespace, name }: ResourceKey) => `"${namespace}/${name}"`

/** What cannot be read now may be readable later. */
async function read<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw new WorkspaceError('ProviderUnavailable', `the cluster cannot be asked: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

export function createActorClaims(templates: ActorTemplates): ActorClaims {
  async function readTemplate(key: ResourceKey): Promise<ActorTemplate> {
    const found = await read(templates.template(key))
    if (found !== undefined) return found
    throw new WorkspaceError('TemplateNotFound', `the actor template ${show(key)} does not exist; create it`)
  }

  return {
    readTemplate,
    async requireTemplate({ template, program }) {
      const found = await readTemplate(template)
      const problem = findTemplateProblem(found, program)
      if (problem === undefined) return found
      if (problem.isFinal) throw new WorkspaceError(problem.reason, problem.message)
      return { ...found, unready: problem }
    },
    async requirePool(claim) {
      if (claim.pool === undefined) return {}
      return choosePool(claim.pool, await read(templates.pool(claim.pool)), claim.template)
    },
  }
}

function choosePool(key: ResourceKey, pool: ActorPool | undefined, template: ResourceKey): Record<string, string> {
  const problem =
    pool === undefined ? `the pool ${show(key)} does not exist; create it` : findPoolProblem(pool, template)
  if (problem !== undefined) throw new WorkspaceError('PoolIncompatible', problem)
  return { [actorPoolLabel]: pool?.labels[actorPoolLabel] ?? '' }
}
