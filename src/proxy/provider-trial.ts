// Tries a provider without spending a token: asks the vendor, with the provider's own key, which models it offers.
import { assignProvider } from '../catalog/models.ts'
import type { Provider } from '../contract/resources/provider.ts'
import { isSvcError, messageOf } from '../errors.ts'
import { parseForeignObject } from '../llm/foreign-json.ts'
import { readRefusal } from '../llm/vendor-error.ts'
import { createRedactor, redactText } from '../observability/redaction.ts'
import type { UsecaseDeps } from '../usecases/deps.ts'
import { policyOf } from '../usecases/providers/models.ts'
import { credentialHeaders, defaultVersion, urlOf } from './target.ts'

/** Why nothing can be asked of it now. */
type TrialFault = {
  reason: 'MissingApiKey' | 'CredentialRefused' | 'AddressRefused' | 'Unreachable'
  /** One sentence, with the vendor's words where it has said something; without the key. */
  message: string
}

/** `models`: the vendor's own names, in its order; none where it does not say. */
export type Trial = { models: string[]; fault?: TrialFault }

type TrialDeps = { ports: Pick<UsecaseDeps['ports'], 'secrets' | 'egress' | 'clock'> } & {
  settings: Pick<UsecaseDeps['settings'], 'allowNetworks' | 'ownAddresses'>
}

const timeoutMs = 5000
const maxBytes = 4 * 1_048_576
/** Aggregators offer several hundred. */
const mostModels = 1000
const longestName = 256
const longestMessage = 500

/** The demo provider is no vendor, and Azure lists models apart from what is deployed. */
export function canBeTried({ spec: { type, azure } }: Pick<Provider, 'spec'>): boolean {
  return type !== 'demo' && azure === undefined
}

function readNames(text: string): string[] {
  const data = parseForeignObject(text)?.data
  if (!Array.isArray(data)) return []
  const names = data.map((entry: unknown) => (entry as { id?: unknown } | null)?.id)
  const known = names.filter(
    (name): name is string => typeof name === 'string' && name !== '' && name.length <= longestName,
  )
  return [...new Set(known)].slice(0, mostModels)
}

type Assigned = Awaited<ReturnType<typeof assignProvider>>

function headersFor(provider: Assigned): Record<string, string> {
  const flat = credentialHeaders(provider)
  const credential = Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])))
  return {
    accept: 'application/json',
    ...credential,
    ...(provider.type === 'llma' && { 'anthropic-version': defaultVersion }),
  }
}

async function ask({ ports, settings }: TrialDeps, provider: Assigned, signal: AbortSignal): Promise<Trial> {
  const url = urlOf(provider, 'models')
  // Its pages are of twenty models; the others of the family know no pages.
  if (provider.type === 'llma') url.searchParams.set('limit', String(mostModels))
  const policy = policyOf({ provider, model: '' }, settings)
  const common = { method: 'GET', headers: headersFor(provider), maxBytes, timeoutMs, maxRedirects: 0, policy }
  const { status, body } = await ports.egress.request({ ...common, url: url.href }, signal)
  const text = body.toString('utf8')
  if (status === 200) return { models: readNames(text) }
  // Whatever else it says of a list that it may not have, it is there.
  if (status !== 401 && status !== 403) return { models: [] }
  const target = {
    provider: `${provider.namespace}/${provider.name}`,
    model: '',
    host: url.host,
    hasKey: provider.apiKey !== undefined,
  }
  const { reason, message } = readRefusal(
    { status, headers: new Headers(), text, url: url.href, now: ports.clock.now() },
    target,
  )
  if (reason !== 'CredentialRefused' && reason !== 'MissingApiKey') return { models: [] }
  return { models: [], fault: { reason, message } }
}

function explain(error: unknown): TrialFault {
  const message = messageOf(error)
  if (isSvcError(error, 'NotFound')) return { reason: 'MissingApiKey', message }
  return { reason: isSvcError(error, 'Forbidden') ? 'AddressRefused' : 'Unreachable', message }
}

function redactFault({ models, fault }: Trial, apiKey: string | undefined): Trial {
  if (fault === undefined) return { models }
  const redact = createRedactor(apiKey === undefined ? [] : [apiKey])
  const message = redactText(redact(fault.message)).slice(0, longestMessage).toWellFormed()
  return { models, fault: { ...fault, message } }
}

/** Never rejects but by its signal. */
export async function tryProvider(deps: TrialDeps, provider: Provider, signal: AbortSignal): Promise<Trial> {
  let assigned: Assigned | undefined
  try {
    assigned = await assignProvider(deps.ports, provider)
    return redactFault(await ask(deps, assigned, signal), assigned.apiKey)
  } catch (error) {
    signal.throwIfAborted()
    return redactFault({ models: [], fault: explain(error) }, assigned?.apiKey)
  }
}
