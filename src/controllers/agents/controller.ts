// Agent: whether everything it refers to exists, how busy it is, and whether it has expired.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Condition } from '../../contract/kinds/resources/metadata.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import { findMisspelling } from '../../lookup/model-spelling.ts'
import type { ResourceReader } from '../../ports/resources/resources.ts'
import { digestContent, readVersionContent } from '../../rules/agents/versions.ts'
import { setCondition } from '../../rules/resources/conditions.ts'
import { agentKeyOf } from '../../rules/tasks/acting.ts'
import { timeToExpiry } from '../../rules/tasks/expiry.ts'
import {
  type Controller,
  defineController,
  formatKey,
  type KeySource,
  parseKey,
  type Reconciled,
} from '../engine/controller.ts'
import { createKindSource, type Observation } from '../engine/kind-source.ts'
import {
  createConfigMapSource,
  createOwnSource,
  createReferenceIndex,
  createReferenceSource,
  createSecretSource,
} from '../resources/object-source.ts'
import type { ResourceControllerDeps } from '../resources/settings.ts'
import { setReady, writeResourceStatus } from '../resources/status.ts'
import { findReadinessProblem, listAgentReferences } from './readiness.ts'

type Activity = {
  /** Pending and Running tasks. */
  activeTasks: number
  /** Whether it has tasks that have not ended, including scheduled ones: it must stay. */
  isNeeded: boolean
  lastUsed: Date | undefined
}

type AgentActivity = {
  source: KeySource
  of(agentKey: string): Activity
  /** Whether all tasks are known, so that "none" can be trusted. */
  isComplete(): boolean
  /** The agent was deleted. */
  forget(agentKey: string): void
  clear(): void
}

/** Nobody tells when a program is installed, changed or removed. */
const programCheckMs = 20_000

const modelNameWarning = 'ModelNameWarning'

/** Agents; of more, the store is asked again. */
const maxNoted = 10_000

/** A burst of tasks causes a single look at the agent. */
const settleMs = 1000

function lastUseOf({ metadata, status }: Task): number {
  return Date.parse(status?.completionTime ?? status?.startTime ?? metadata.creationTimestamp)
}

function createAgentActivity(deps: { resources: ResourceReader; clock: Clock }): AgentActivity {
  const open = new Map<string, Map<string, Task['status']>>()
  const used = new Map<string, number>()
  let complete = false

  function note({ type, object }: Observation<Task>): string | undefined {
    const key = agentKeyOf(object)
    if (key === undefined) return undefined
    const agent = formatKey(key)
    const tasks = open.get(agent) ?? new Map()
    const isOpen = type !== 'DELETED' && !isTerminalPhase(object.status?.phase)
    if (isOpen) open.set(agent, tasks.set(object.metadata.uid, object.status))
    else if (tasks.delete(object.metadata.uid) && tasks.size === 0) open.delete(agent)
    used.set(agent, Math.max(used.get(agent) ?? 0, lastUseOf(object)))
    return agent
  }

  const source = createKindSource({
    ...deps,
    kind: 'Task',
    first: [{ phase: 'Running' }, { phase: 'Pending' }, { phase: 'Scheduled' }],
    onFirst: () => {
      complete = true
    },
    resync: [],
    onObject(observation, enqueue) {
      const agent = note(observation)
      if (agent !== undefined) enqueue(agent, settleMs)
    },
  })

  return {
    source,
    of(agentKey) {
      const tasks = [...(open.get(agentKey)?.values() ?? [])]
      const last = used.get(agentKey)
      return {
        activeTasks: tasks.filter((status) => status?.phase !== 'Scheduled').length,
        isNeeded: tasks.length > 0,
        lastUsed: last === undefined ? undefined : new Date(last),
      }
    },
    isComplete: () => complete,
    forget: (agentKey) => void used.delete(agentKey),
    clear() {
      open.clear()
      used.clear()
      complete = false
    },
  }
}

function latest(stored: string | undefined, seen: Date | undefined): Date | undefined {
  if (stored === undefined) return seen
  return seen !== undefined && seen.getTime() > Date.parse(stored) ? seen : new Date(stored)
}

/** What was last noted of each agent, so that an agent with many tasks asks the store once. */
type NotedVersions = BoundedMap<string, string>

type AgentContext = ResourceControllerDeps & { activity: AgentActivity; noted: NotedVersions }

/** Undefined while its ConfigMap has no such entry: nobody knows yet what the agent will tell. */
async function readVersion({ configMaps }: AgentContext, agent: Agent) {
  const { inline, configMapRef } = agent.spec.systemPrompt ?? {}
  if (configMapRef === undefined) return readVersionContent(agent, inline)
  const { namespace } = agent.metadata
  const prompt = (await configMaps.get({ namespace, name: configMapRef.name }))?.data[configMapRef.key]
  return prompt === undefined ? undefined : readVersionContent(agent, prompt)
}

async function noteVersion(context: AgentContext, key: string, agent: Agent): Promise<void> {
  const content = await readVersion(context, agent)
  if (content === undefined) return
  const { uid, generation } = agent.metadata
  const mark = `${uid} ${generation} ${digestContent(content)}`
  if (context.noted.get(key) === mark) return
  await context.records.agentVersions.note(agent, content)
  context.noted.set(key, mark)
}

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

/** The agent is ready all the same. */
function noteMisspelling(conditions: Condition[], message: string | undefined, now: Date): Condition[] {
  if (message === undefined) return conditions.filter(({ type }) => type !== modelNameWarning)
  return setCondition(conditions, { type: modelNameWarning, status: 'True', reason: 'NoSuchProvider', message }, now)
}

async function reconcileAgent(context: AgentContext, key: string): Promise<Reconciled> {
  const { resources, clock } = context
  const agent = await resources.get('Agent', parseKey(key))
  if (agent === undefined) {
    context.activity.forget(key)
    context.noted.delete(key)
    await context.records.agentVersions.remove(parseKey(key))
    return undefined
  }
  const activity = context.activity.of(key)
  const expiresIn = findExpiry(context, agent, activity)
  if (expiresIn === 0) {
    await removeExpired(context, agent)
    return undefined
  }
  await noteVersion(context, key, agent)
  const problem = await findReadinessProblem(context, agent)
  const misspelling = await findMisspelling(resources, agent)
  const lastUsed = latest(agent.status?.lastUsed, activity.lastUsed)
  const reasons: [string, string] = ['ReferencesFound', 'NotReady']
  const outcome = { problem, good: 'everything the agent names is there', reasons }
  await writeResourceStatus(resources, 'Agent', agent, {
    ready: problem === undefined,
    activeTasks: activity.activeTasks,
    ...(lastUsed !== undefined && { lastUsed: lastUsed.toISOString() }),
    conditions: noteMisspelling(setReady(agent.status?.conditions, outcome, clock.now()), misspelling, clock.now()),
  })
  const looksAgainIn = agent.spec.runtime === undefined ? Number.POSITIVE_INFINITY : programCheckMs
  const next = Math.min(expiresIn ?? Number.POSITIVE_INFINITY, looksAgainIn)
  return Number.isFinite(next) ? { requeueAfterMs: next } : undefined
}

export function createAgentController(deps: ResourceControllerDeps): Controller {
  const index = createReferenceIndex()
  const activity = createAgentActivity(deps)
  const noted: NotedVersions = new BoundedMap({ max: maxNoted })
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
      noted.clear()
    },
    reconcile: (key) => reconcileAgent({ ...deps, activity, noted }, key),
  })
}
