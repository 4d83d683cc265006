// Agent: whether everything it refers to exists, how busy it is, and whether it has expired.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { isSvcError } from '../../errors.ts'
import { timeToExpiry } from '../../rules/tasks/expiry.ts'
import { type Controller, defineController, type Reconciled } from '../engine/controller.ts'
import { parseKey } from '../engine/key.ts'
import {
  createConfigMapSource,
  createOwnSource,
  createReferenceSource,
  createSecretSource,
} from '../resources/object-source.ts'
import { createReferenceIndex } from '../resources/reference-index.ts'
import type { CatalogDeps } from '../resources/settings.ts'
import { setReady, writeCatalogStatus } from '../resources/status.ts'
import { type Activity, type AgentActivity, createAgentActivity } from './agent-activity.ts'
import { findAgentProblem, listAgentReferences } from './agent-readiness.ts'

function latest(stored: string | undefined, seen: Date | undefined): Date | undefined {
  if (stored === undefined) return seen
  return seen !== undefined && seen.getTime() > Date.parse(stored) ? seen : new Date(stored)
}

type AgentContext = CatalogDeps & { activity: AgentActivity }

/** Milliseconds until the agent expires, 0 when it has, undefined when it stays or its tasks are not all known yet. */
function findExpiry(context: AgentContext, agent: Agent, activity: Activity): number | undefined {
  if (!context.activity.isComplete()) return agent.spec.ttlAfterLastTask === undefined ? undefined : 1000
  return timeToExpiry(
    {
      ttlAfterLastTask: agent.spec.ttlAfterLastTask,
      createdAt: new Date(agent.metadata.creationTimestamp),
      lastUsed: latest(agent.status?.lastUsed, activity.lastUsed),
      activeTasks: activity.isNeeded ? Math.max(1, activity.activeTasks) : 0,
    },
    context.clock.now(),
  )
}

/** Removes the agent unless it changed in the meantime. */
async function removeExpired({ resources, log }: AgentContext, { metadata }: Agent): Promise<void> {
  const { uid, resourceVersion, namespace, name } = metadata
  try {
    await resources.remove('Agent', metadata, { uid, resourceVersion })
    log.info({ agent: `${namespace}/${name}` }, 'an agent was removed: ttlAfterLastTask has passed')
  } catch (error) {
    if (!isSvcError(error, 'NotFound')) throw error
  }
}

async function reconcileAgent(context: AgentContext, key: string): Promise<Reconciled> {
  const { resources, clock } = context
  const agent = await resources.get('Agent', parseKey(key))
  if (agent === undefined) {
    context.activity.forget(key)
    return undefined
  }
  const activity = context.activity.of(key)
  const expiresIn = findExpiry(context, agent, activity)
  if (expiresIn === 0) {
    await removeExpired(context, agent)
    return undefined
  }
  const problem = await findAgentProblem(context, agent)
  const lastUsed = latest(agent.status?.lastUsed, activity.lastUsed)
  const reasons: [string, string] = ['ReferencesFound', 'NotReady']
  const outcome = { problem, good: 'everything the agent names is there', reasons }
  await writeCatalogStatus(resources, 'Agent', agent, {
    ready: problem === undefined,
    activeTasks: activity.activeTasks,
    ...(lastUsed !== undefined && { lastUsed: lastUsed.toISOString() }),
    conditions: setReady(agent.status?.conditions, outcome, clock.now()),
  })
  return expiresIn === undefined ? undefined : { requeueAfterMs: expiresIn }
}

export function createAgentController(deps: CatalogDeps): Controller {
  const index = createReferenceIndex()
  const activity = createAgentActivity(deps)
  return defineController({
    name: 'agents',
    sources: [
      createOwnSource(deps, 'Agent', index, listAgentReferences),
      createReferenceSource(deps, 'Provider', index),
      createReferenceSource(deps, 'Tool', index),
      createReferenceSource(deps, 'Skill', index),
      createReferenceSource(deps, 'Agent', index),
      createSecretSource(deps, index),
      createConfigMapSource(deps, index),
      activity.source,
    ],
    concurrency: 4,
    begin() {
      index.clear()
      activity.clear()
    },
    reconcile: (key) => reconcileAgent({ ...deps, activity }, key),
  })
}
