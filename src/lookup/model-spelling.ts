// Whether an agent's model begins with a misspelt provider.
import type { Agent } from '../contract/kinds/agents/agent.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import { explainSpelling, splitModel } from '../rules/agents/provider.ts'

/** One sentence for whoever wrote `model.name`; undefined where it names a provider, or nearly none. */
export async function findMisspelling(resources: ResourceReader, agent: Agent): Promise<string | undefined> {
  const { runtime, model } = agent.spec
  if (runtime === undefined || splitModel(model?.name) === undefined) return undefined
  const { items } = await resources.list('Provider', { namespace: agent.metadata.namespace })
  return explainSpelling(
    agent.spec,
    items.map(({ metadata }) => metadata.name),
  )
}
