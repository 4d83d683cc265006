// The provider of an agent program: named by the agent's model, made from the keys of its Secret, or the default.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { apiVersion } from '../../contract/kinds/resources/metadata.ts'
import { findNearest } from '../../lib/nearest.ts'
import { trimTrailing } from '../../lib/trim.ts'

/** The parts of a model name that begins with a provider's. */
export function splitModel(name: string | undefined): { provider: string; model: string } | undefined {
  const slash = name?.indexOf('/') ?? -1
  if (name === undefined || slash < 1) return undefined
  return { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}

/** `provider/model` with the nearest of these names; undefined when its provider is one of them, or like none. */
export function findSpelling(model: string | undefined, providers: readonly string[]): string | undefined {
  const parts = splitModel(model)
  if (parts === undefined || providers.includes(parts.provider)) return undefined
  const nearest = findNearest(parts.provider, providers)
  return nearest && `${nearest}/${parts.model}`
}

/**
 * Of a program's model that begins with nearly the name of a provider. It is no refusal: vendors that resell have models
 * with slashes in their names.
 */
export function explainSpelling(
  { providerRef, model }: Agent['spec'],
  providers: readonly string[],
): string | undefined {
  const meant = providerRef === undefined ? findSpelling(model?.name, providers) : undefined
  return (
    meant &&
    `model.name "${model?.name}" begins with no provider's name, so all of it is asked for as a model; did you mean "${meant}"?`
  )
}

type KeyEntry = { key: string; type: 'llma' | 'llmo'; address?: readonly string[] }

/** Entries of a Secret that hold a vendor's key, in either spelling; those with an address need it. */
const keyEntries: readonly KeyEntry[] = [
  ...['VENDOR_API_KEY', 'ANTHROPIC_API_KEY'].map((key) => ({ key, type: 'llma' as const })),
  ...['VENDOR', 'ANTHROPIC'].map((vendor) => ({
    key: `${vendor}_FOUNDRY_API_KEY`,
    type: 'llma' as const,
    address: ['VENDOR_FOUNDRY_BASE_URL', 'ANTHROPIC_FOUNDRY_BASE_URL'],
  })),
  { key: 'OPENAI_API_KEY', type: 'llmo' as const },
]

export type MadeProvider = {
  metadata: Pick<Provider['metadata'], 'namespace' | 'name'> & Required<Pick<Provider['metadata'], 'ownerReferences'>>
  spec: Provider['spec']
}

function findEntry(values: Record<string, string>, names: readonly string[]): string | undefined {
  return names.map((name) => values[name]?.trim()).find((value) => value !== undefined && value !== '')
}

/** The provider that the entries of an agent's Secret make; undefined when no entry is a vendor's key. */
export function makeAgentProvider(
  { metadata, spec }: Pick<Agent, 'metadata' | 'spec'>,
  values: Record<string, string>,
): MadeProvider | undefined {
  const { namespace, name, uid } = metadata
  const found = keyEntries.find(
    ({ key, address }) => findEntry(values, [key]) !== undefined && (!address || findEntry(values, address)),
  )
  if (found === undefined || spec.secretRef === undefined) return undefined
  const baseURL = found.address && findEntry(values, found.address)
  const made = { type: found.type, secretRef: { name: spec.secretRef.name, key: found.key }, serverTools: false }
  return {
    metadata: { namespace, name: nameAgentProvider(name), ownerReferences: [ownerReferenceOf(name, uid)] },
    spec: { ...made, ...(baseURL && { baseURL }) },
  }
}

function ownerReferenceOf(name: string, uid: string) {
  return { apiVersion, kind: 'Agent', name, uid, controller: true }
}

/** Name of the Provider that is made for an agent. */
function nameAgentProvider(agent: string): string {
  return trimTrailing(`agent-${agent}`.slice(0, 63), '-.')
}

/** Whether the provider was made for the agent. */
export function isMadeFor(provider: Pick<Provider, 'metadata'>, agent: Pick<Agent, 'metadata'>): boolean {
  return (provider.metadata.ownerReferences ?? []).some(({ uid }) => uid === agent.metadata.uid)
}
