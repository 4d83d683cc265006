// The verbs of an orchestrating model, bound to the use cases with its caller's rights.
import { createBodyOf } from '../../../contract/api/resources/resource-body.ts'
import type { Kind, SpecOf } from '../../../contract/kinds/index.ts'
import { parseOrThrow } from '../../../contract/schema/validation.ts'
import { SvcError } from '../../../errors.ts'
import type { OrchestratedName, Orchestration } from '../../../ports/coordination/coordination.ts'
import type { SessionUsecases } from '../../chat/sessions.ts'
import { createMonitorVerb } from './pr-monitor.ts'
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

export function bindOrchestration(deps: Deps, given: OrchestrationScope): BoundOrchestration {
  const scope = { ...given, caller: { ...given.caller, isModel: true } }
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
    ...createMonitorVerb(deps, scope, (request) => createAs(given.caller, request)),
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
