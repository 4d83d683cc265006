// Tries a provider without spending a token: asks the vendor, with the provider's own key, which models it offers.
import type { ProviderTest } from '../contract/api/providers/providers.ts'
import type { Provider } from '../contract/kinds/providers/provider.ts'
import type { CallFailure } from '../contract/kinds/tasks/failures.ts'
import { parseForeignObject } from '../contract/schema/foreign-json.ts'
import { isSvcError, messageOf } from '../errors.ts'
import { readVendorRefusal } from '../llm/call/vendor-error.ts'
import { assignProvider, explainUnassigned } from '../lookup/models.ts'
import { createRedactor, type Redactor, redactText } from '../observability/redaction.ts'
import type { Caller } from '../ports/identity/identity.ts'
import type { ProviderTrial, TrialFault } from '../ports/providers/provider-state.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { requireAccess } from '../usecases/identity/access.ts'
import { keepModels, policyOf } from '../usecases/providers/models.ts'
import { notFound } from '../usecases/resources/listing.ts'
import { repeatOnConflict } from '../usecases/resources/write-conflict.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import { credentialHeaders, defaultVersion, endpointUrlOf } from './target.ts'

type TrialDeps = { ports: Pick<UsecaseDeps['ports'], 'secrets' | 'egress' | 'clock'> } & {
  settings: Pick<UsecaseDeps['settings'], 'allowNetworks' | 'ownAddresses'>
}

const timeoutMs = 5000
const maxBytes = 4 * 1_048_576
/** Aggregators offer several hundred. */
const maxModels = 1000
const maxNameLength = 256
const maxMessageLength = 500
/** A page of a proxy may be of megabytes; what it says of the refusal stands at its beginning. */
const maxRefusalBytes = 65_536

function readNames(text: string): string[] {
  const data = parseForeignObject(text)?.data
  if (!Array.isArray(data)) return []
  const names = data.map((entry: unknown) => (entry as { id?: unknown } | null)?.id)
  const known = names.filter(
    (name): name is string => typeof name === 'string' && name !== '' && name.length <= maxNameLength,
  )
  return [...new Set(known)].slice(0, maxModels)
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

/**
 * Faults that say what keeps calls from being answered. What else a vendor finds with being asked for a list says
 * nothing.
 */
const reported: Partial<Record<CallFailure, TrialFault['reason']>> = {
  MissingApiKey: 'MissingApiKey',
  CredentialRefused: 'CredentialRefused',
  CreditUsedUp: 'CreditUsedUp',
  ProviderFailed: 'ProviderFailed',
}

/** 404 and 405: a server that lists no models is there all the same. */
function readFault(answer: { status: number; headers: Headers; text: string }, { url, provider, now }: Asked) {
  const { status } = answer
  if (status === 404 || status === 405 || status === 501) return undefined
  const name = `${provider.namespace}/${provider.name}`
  const target = { provider: name, model: '', host: url.host, hasKey: provider.apiKey !== undefined }
  const { reason, message } = readVendorRefusal({ ...answer, url: url.href, now }, target)
  // A redirect: model calls follow none.
  const known = reason === 'WrongAddress' ? reason : reported[reason]
  return known === undefined ? undefined : { reason: known, message }
}

type Asked = { url: URL; provider: Assigned; now: Date }

async function ask(
  { ports, settings }: TrialDeps,
  provider: Assigned,
  { redact, signal }: { redact: Redactor; signal: AbortSignal },
): Promise<ProviderTrial> {
  const url = endpointUrlOf(provider, 'models')
  // Its pages have twenty models; others of the family do not have pages.
  if (provider.type === 'llma') url.searchParams.set('limit', String(maxModels))
  const policy = policyOf({ provider, model: '' }, settings)
  const common = { method: 'GET', headers: headersFor(provider), maxBytes, timeoutMs, maxRedirects: 0, policy }
  const { status, headers, body } = await ports.egress.request({ ...common, url: url.href }, signal)
  const text = body.toString('utf8')
  // Azure lists models apart from what is deployed.
  if (status === 200) return { status, models: provider.azure === undefined ? readNames(text) : [] }
  const answer = { status, headers: new Headers(headers), text: redact(text.slice(0, maxRefusalBytes)) }
  const fault = readFault(answer, { url, provider, now: ports.clock.now() })
  return { status, models: [], ...(fault && { fault }) }
}

function explain(error: unknown): TrialFault {
  return { reason: isSvcError(error, 'Forbidden') ? 'AddressRefused' : 'Unreachable', message: messageOf(error) }
}

function clean({ fault, ...trial }: ProviderTrial, redact: Redactor): ProviderTrial {
  if (fault === undefined) return trial
  const message = redact(fault.message).replace(/\s+/g, ' ').slice(0, maxMessageLength).toWellFormed()
  return { ...trial, fault: { ...fault, message } }
}

/** The demo provider is not a vendor: there is nothing to ask. */
export async function tryProvider(deps: TrialDeps, provider: Provider, signal: AbortSignal): Promise<ProviderTrial> {
  if (provider.spec.type === 'demo') return { models: [] }
  const found = await assignProvider(deps.ports, provider).catch(explainKey)
  if ('fault' in found) return clean({ models: [], fault: found.fault }, redactText)
  const redact = createRedactor(found.apiKey === undefined ? [] : [found.apiKey])
  try {
    return clean(await ask(deps, found, { redact, signal }), redact)
  } catch (error) {
    signal.throwIfAborted()
    return clean({ models: [], fault: explain(error) }, redact)
  }
}

function explainKey(error: unknown): { fault: TrialFault } {
  return { fault: { reason: 'MissingApiKey', message: explainUnassigned(error) } }
}

/** Longer than a trial takes at most. */
const maxTrialMs = 10_000

/** What its status shows as well, for callers who may have it act: the trial is made in its name. Forbidden, NotFound. */
export async function runProviderTest(deps: UsecaseDeps, caller: Caller, key: ResourceKey): Promise<ProviderTest> {
  const { ports } = deps
  for (const verb of ['get', 'use'] as const) await requireAccess(ports, caller, { verb, kind: 'Provider', ...key })
  const provider = await ports.resources.get('Provider', key)
  if (provider === undefined) throw await notFound(ports, caller, 'Provider', key)
  const begun = performance.now()
  const trial = await tryProvider(deps, provider, AbortSignal.timeout(maxTrialMs))
  const durationMs = Math.round(performance.now() - begun)
  if (trial.fault === undefined) await noteReached(deps, key)
  const models = await keepModels(ports, caller, { of: trial.models, read: (model) => ({ ...key, model }) })
  const { status, fault } = trial
  return {
    ok: fault === undefined,
    ...(fault && { reason: fault.reason }),
    message: fault?.message ?? describe(provider, trial),
    status,
    models,
    durationMs,
  }
}

function describe({ metadata: { name }, spec: { type, defaultModel } }: Provider, { status, models }: ProviderTrial) {
  if (type === 'demo') return `provider "${name}" is the demo provider: it answers, and is not a language model`
  if (models.length === 0) {
    const how = status === 200 ? 'names no models' : `answers HTTP ${status} when it is asked for its models`
    return `provider "${name}" is there and ${how}`
  }
  const isListed = defaultModel === undefined || models.includes(defaultModel)
  const note = isListed ? '' : `, but does not list its defaultModel "${defaultModel}"`
  return `provider "${name}" answers and offers ${models.length} ${models.length === 1 ? 'model' : 'models'}${note}`
}

/** One that could not be used before is tried anew at once by its controller, on whichever replica that runs. */
async function noteReached({ ports: { resources, clock } }: UsecaseDeps, key: ResourceKey): Promise<void> {
  await repeatOnConflict(async () => {
    const provider = await resources.get('Provider', key)
    if (provider?.status?.ready !== false) return
    const status = { ...provider.status, lastReached: clock.now().toISOString() }
    await resources.updateStatus('Provider', { ...provider, status })
  })
}
