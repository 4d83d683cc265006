// The verbs of an orchestrating model, bound to the use cases with its caller's rights.
import { createBodyOf } from '../../../contract/api/resources/resource-body.ts'
import type { Agent } from '../../../contract/kinds/agents/agent.ts'
import type { Kind, SpecOf } from '../../../contract/kinds/index.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { parseOrThrow } from '../../../contract/schema/validation.ts'
import { readRepositoryUrl, repositoryUrlOf } from '../../../contract/values/repository-url.ts'
import { ignoring, SvcError } from '../../../errors.ts'
import type { OrchestratedName, Orchestration, PrMonitorRequest } from '../../../ports/coordination/coordination.ts'
import type { Secrets } from '../../../ports/resources/secrets.ts'
import { codeHostEntryNames, readCodeHostEntries } from '../../../rules/codehost/login.ts'
import { monitorAnnotation, monitorTools } from '../../../rules/codehost/tools.ts'
import { writeMonitorPrompt } from '../../../rules/monitors/prompt.ts'
import { autonomyOf } from '../../../rules/tasks/iteration.ts'
import type { SessionUsecases } from '../../chat/sessions.ts'
import { locate, locateNamespace, type OrchestrationScope } from './scope.ts'
import { createTaskVerbs, explainProblems, type OrchestrationDeps, type TaskVerbs } from './tasks.ts'

export type BoundOrchestration = Orchestration & Pick<TaskVerbs, 'created'>

type Deps = OrchestrationDeps & { sessions: SessionUsecases }

/** How many agents or tools one list shows to a model. */
const listLimit = 200

// Building a schema costs more than using it, and few turns need one.
const bodies = new Map<Kind, ReturnType<typeof createBodyOf>>()

function readSpec<K extends 'Agent' | 'Tool'>(
  kind: K,
  key: { name: string },
  spec: Record<string, unknown>,
): SpecOf<K> {
  const schema = bodies.get(kind) ?? createBodyOf<Kind>(kind)
  bodies.set(kind, schema)
  return parseOrThrow(schema, { name: key.name, spec }, kind.toLowerCase()).spec as SpecOf<K>
}

export function bindOrchestration(deps: Deps, own: OrchestrationScope): BoundOrchestration {
  const scope = { ...own, caller: { ...own.caller, isModel: true } }
  const { caller, labels } = scope
  const { resources } = deps
  const { createAs, ...tasks } = createTaskVerbs(deps, scope)

  async function create<K extends 'Agent' | 'Tool'>(kind: K, named: OrchestratedName, spec: Record<string, unknown>) {
    const { name, namespace } = locate(scope, named)
    try {
      const checked = readSpec(kind, named, spec)
      return await resources.create(caller, kind, { metadata: { name }, namespace, spec: checked, marks: labels })
    } catch (error) {
      throw explainProblems(error)
    }
  }

  async function list<K extends 'Agent' | 'Tool'>(kind: K, namespace: string | undefined) {
    const query = { namespace: locateNamespace(scope, namespace), limit: listLimit }
    return (await resources.list(caller, kind, query)).items
  }

  return {
    ...tasks,
    ...createMonitorVerb(deps, scope, (request) => createAs(own.caller, request)),
    listAgents: (namespace) => list('Agent', namespace),
    listTools: (namespace) => list('Tool', namespace),
    createAgent: (named, spec) => create('Agent', named, spec),
    createTool: (named, spec) => create('Tool', named, spec),
    async updateAgent(named, change) {
      const key = locate(scope, named)
      const { metadata, spec } = await resources.get(caller, 'Agent', key)
      const { resourceVersion } = metadata
      try {
        const changed = readSpec('Agent', key, change(spec))
        return await resources.replace(caller, 'Agent', key, { metadata: { resourceVersion }, spec: changed })
      } catch (error) {
        throw explainProblems(error)
      }
    },
    async deleteAgent(named) {
      await resources.remove(caller, 'Agent', locate(scope, named))
    },
    async deleteTool(named) {
      await resources.remove(caller, 'Tool', locate(scope, named))
    },
    async deleteSession(named) {
      const key = locate(scope, named)
      // For a person, deleting a missing object is harmless; a model should learn that it used a wrong name.
      await deps.sessions.get(caller, key, 1)
      if (labels['svc.ai/chat-session'] === key.name && key.namespace === scope.namespace) {
        throw new SvcError('Conflict', 'the session of this conversation cannot be deleted from within it')
      }
      await deps.sessions.remove(caller, key)
    },
  }
}

/** Looked for in this order where the request names none. */
const usualSecrets = ['git-credentials', 'codehost-credentials', 'agent-cli-token', 'codehost-token', 'git-token']

function refuse(message: string): never {
  throw new SvcError('InvalidRequest', message)
}

function requireReviewer(name: string, agent: Agent | undefined): void {
  if (agent === undefined) refuse(`agent_ref: there is no agent "${name}"; list_agents shows them`)
  if (agent.spec.runtime !== undefined) {
    refuse(`agent_ref: agent "${name}" has a runtime; name an AI agent without one`)
  }
  if (agent.spec.coordination?.enabled !== true) {
    refuse(`agent_ref: agent "${name}" does not coordinate; set coordination.enabled`)
  }
  if (autonomyOf(agent) !== undefined) {
    refuse(`agent_ref: agent "${name}" is autonomous; set coordination.autonomous to false`)
  }
}

/** The name of a Secret with a token in it. */
async function chooseSecret(secrets: Secrets, namespace: string, named: string | undefined): Promise<string> {
  for (const name of named === undefined ? usualSecrets : [named]) {
    const values = await secrets.read({ namespace, name })
    if (values === undefined) continue
    if (readCodeHostEntries(values) !== undefined) return name
    refuse(`gitSecretRef: secret "${name}" in namespace "${namespace}" has no ${codeHostEntryNames}; add one`)
  }
  const wanted = named === undefined ? `none of ${usualSecrets.join(', ')}` : `no secret "${named}"`
  return refuse(
    `gitSecretRef: there is ${wanted} in namespace "${namespace}"; create one with the token as CODEHOST_TOKEN`,
  )
}

type MonitorDeps = Pick<OrchestrationDeps, 'ports' | 'resources'>

/** `createTask`: with the rights of the person, because a model itself may not name a Secret. */
export function createMonitorVerb(
  { ports, resources }: MonitorDeps,
  scope: OrchestrationScope,
  createTask: Orchestration['createTask'],
): Pick<Orchestration, 'createPrMonitor'> {
  async function findAgent(namespace: string, name: string): Promise<Agent | undefined> {
    return ignoring(resources.get(scope.caller, 'Agent', { namespace, name }), 'NotFound')
  }

  return {
    async createPrMonitor(request: PrMonitorRequest): Promise<Task> {
      const namespace = locateNamespace(scope, request.namespace)
      const read = readRepositoryUrl(request.repoUrl, ports.codeHosts.hosts)
      if ('problem' in read) refuse(`repo_url ${read.problem}`)
      requireReviewer(request.agent, await findAgent(namespace, request.agent))
      const secret = await chooseSecret(ports.secrets, namespace, request.secret)
      const url = repositoryUrlOf(read.repository)
      return createTask({
        namespace,
        step: request.step,
        notes: { [monitorAnnotation]: request.name },
        spec: {
          type: 'ai',
          schedule: request.schedule,
          agentRef: { name: request.agent },
          ai: {
            prompt: writeMonitorPrompt({ ...request, url }),
            tools: [...monitorTools],
            ...(request.provider !== undefined && { providerRef: { name: request.provider } }),
          },
          workspace: { gitRepo: request.repoUrl, gitSecretRef: { name: secret } },
        },
      })
    },
  }
}
