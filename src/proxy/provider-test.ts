// A provider is tried because somebody asks for it.
import type { ProviderTest } from '../contract/api/providers/providers.ts'
import type { Provider } from '../contract/kinds/providers/provider.ts'
import type { Caller } from '../ports/identity/identity.ts'
import type { ProviderTrial } from '../ports/providers/rate-limits.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { requireAccess } from '../usecases/identity/access.ts'
import { keepModels } from '../usecases/providers/models.ts'
import { notFound } from '../usecases/resources/resources.ts'
import { repeatOnConflict } from '../usecases/resources/write-conflict.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import { tryProvider } from './provider-trial.ts'

/** Longer than a trial takes at most. */
const maxTrialMs = 10_000

/** What its status shows as well, for callers who may have it act: the trial is made in its name. Forbidden, NotFound. */
export async function runProviderTest(deps: UsecaseDeps, caller: Caller, key: ResourceKey): Promise<ProviderTest> {
  const { ports } = deps
  for (const verb of ['get', 'use'] as const) await requireAccess(ports, caller, { verb, kind: 'Provider', ...key })
  const provider = await ports.resources.get('Provider', key)
  if (provider === undefined) throw notFound('Provider', key)
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
