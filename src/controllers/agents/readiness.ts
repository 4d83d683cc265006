// Whether everything that an agent refers to exists.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { agentProblems } from '../../contract/kinds/agents/agent-problems.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { summarizeProblems } from '../../contract/schema/validation.ts'
import { lookUpDefault } from '../../lookup/models.ts'
import { findProgramOf, findProgramProblem } from '../../rules/agents/programs.ts'
import { splitModel } from '../../rules/agents/provider.ts'
import { explainNoDefault } from '../../rules/providers/model-choice.ts'
import { isServiceTool } from '../../rules/tools/choice.ts'
import { anyName, nameReference } from '../resources/object-source.ts'
import type { ResourceControllerDeps, ResourceControllerSettings } from '../resources/settings.ts'

type Named = {
  kind: 'Provider' | 'Tool' | 'Skill' | 'Agent' | 'Secret' | 'ConfigMap'
  namespace: string
  name: string
  field: string
  /** Entry of a ConfigMap. */
  entry?: string
}

function listConfigMaps({ namespace, spec }: { namespace: string; spec: Agent['spec'] }): Named[] {
  const prompt = { ref: spec.systemPrompt?.configMapRef, field: 'systemPrompt.configMapRef' }
  const skills = (spec.skills ?? []).map(({ configMapRef: ref }) => ({ ref, field: 'skills' }))
  return [prompt, ...skills].flatMap(({ ref, field }) =>
    ref === undefined ? [] : [{ kind: 'ConfigMap' as const, namespace, name: ref.name, field, entry: ref.key }],
  )
}

function listNamed({ metadata, spec }: Agent): Named[] {
  const { namespace } = metadata
  const provider = spec.providerRef
  const tools = (spec.tools ?? []).filter((tool) => tool.enabled && !isServiceTool(tool.name))
  const skills = (spec.skills ?? []).flatMap(({ name }) => (name === undefined ? [] : [name]))
  const agents = spec.coordination?.allowedAgents ?? []
  return [
    ...(provider === undefined
      ? []
      : [
          {
            kind: 'Provider' as const,
            namespace: provider.namespace ?? namespace,
            name: provider.name,
            field: 'providerRef',
          },
        ]),
    ...(spec.secretRef === undefined
      ? []
      : [{ kind: 'Secret' as const, namespace, name: spec.secretRef.name, field: 'secretRef' }]),
    ...listConfigMaps({ namespace, spec }),
    ...tools.map(({ name }) => ({ kind: 'Tool' as const, namespace, name, field: 'tools' })),
    ...skills.map((name) => ({ kind: 'Skill' as const, namespace, name, field: 'skills' })),
    ...agents.map((agent) => ({
      kind: 'Agent' as const,
      namespace: agent.namespace ?? namespace,
      name: agent.name,
      field: 'coordination.allowedAgents',
    })),
  ]
}

/** The keys of a program's Secret make a provider of their own. */
function needsDefault({ spec }: Agent): boolean {
  return spec.providerRef === undefined && (spec.runtime === undefined || spec.secretRef === undefined)
}

/** An agent that names no provider depends on all providers of its namespace. */
export function listAgentReferences(agent: Agent): string[] {
  const named = listNamed(agent).map(({ kind, namespace, name }) => nameReference(kind, namespace, name))
  return needsDefault(agent) ? [...named, nameReference('Provider', agent.metadata.namespace, anyName)] : named
}

async function exists(deps: ResourceControllerDeps, { kind, ...key }: Named): Promise<boolean> {
  if (kind === 'ConfigMap') return (await deps.configMaps.get(key))?.data[key.entry ?? ''] !== undefined
  if (kind === 'Secret') return (await deps.secrets.describe(key)) !== undefined
  return (await deps.resources.get(kind, key)) !== undefined
}

/** Why an existing provider or skill cannot be used. */
async function findFault({ resources }: ResourceControllerDeps, { kind, ...key }: Named): Promise<string | undefined> {
  if (kind === 'Provider') return describeUnready(await resources.get(kind, key))
  if (kind !== 'Skill') return undefined
  const { phase } = (await resources.get(kind, key))?.status ?? {}
  return phase === 'Error' ? `skill "${key.name}" has unusable content; see its status` : undefined
}

function describeUnready(provider: Provider | undefined): string | undefined {
  const { ready, message } = provider?.status ?? {}
  return ready === false ? `provider "${provider?.metadata.name}" is not ready: ${message}` : undefined
}

async function checkDefault(
  { resources }: ResourceControllerDeps,
  { metadata: { namespace }, spec }: Agent,
): Promise<string | undefined> {
  const named = spec.runtime && splitModel(spec.model?.name)
  const provider = named && (await resources.get('Provider', { namespace, name: named.provider }))
  if (provider !== undefined) return describeUnready(provider)
  const found = await lookUpDefault(resources, namespace)
  return found.outcome === 'chosen' ? describeUnready(found.provider) : explainNoDefault(found, namespace)
}

async function checkNamed(deps: ResourceControllerDeps, named: Named): Promise<string | undefined> {
  const { kind, namespace, name, field, entry } = named
  if (await exists(deps, named)) return await findFault(deps, named)
  const what = `${kind.toLowerCase()} "${name}" (${field})`
  if (entry !== undefined) {
    return `${what} has no entry "${entry}" in namespace "${namespace}"; create it or name another`
  }
  return `${what} does not exist in namespace "${namespace}"; create it or name another`
}

async function checkAbilities(
  { spec: { runtime } }: Agent,
  { agentPrograms }: ResourceControllerSettings,
): Promise<string | undefined> {
  return runtime && findProgramProblem(runtime, await findProgramOf(runtime, agentPrograms))
}

/** Why the agent is not ready, or undefined. */
export async function findReadinessProblem(deps: ResourceControllerDeps, agent: Agent): Promise<string | undefined> {
  const problems = agentProblems(agent.spec)
  if (problems.length > 0) return summarizeProblems('agent', problems)
  const inability = await checkAbilities(agent, deps.settings)
  if (inability !== undefined) return inability
  const missing = needsDefault(agent) ? await checkDefault(deps, agent) : undefined
  if (missing !== undefined) return missing
  for (const named of listNamed(agent)) {
    const problem = await checkNamed(deps, named)
    if (problem !== undefined) return problem
  }
  return undefined
}
