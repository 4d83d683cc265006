// Whether a claim can become an actor: its template and its pool.

import type { ResourceKey } from '../../ports/resources/resources.ts'
import { type WorkspaceClaim, WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import {
  type ActorPool,
  type ActorTemplate,
  findPoolProblem,
  findTemplateProblem,
  poolLabel,
  type TemplateProblem,
} from '../../rules/workspaces/actor-templates.ts'
import type { ActorTemplates } from './templates.ts'

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
  return { [poolLabel]: pool?.labels[poolLabel] ?? '' }
}
