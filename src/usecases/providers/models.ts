// A model for the service's own calls (chat, proxies): its choices, with limits, cool-downs and usage across replicas.
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { ModelClient } from '../../llm/call/model-client.ts'
import { trustOf } from '../../llm/call/provider-client.ts'
import { createModelRouter, type RouterDeps } from '../../llm/call/router.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import type { RateLimits } from '../../ports/providers/provider-state.ts'
import type { EgressPolicy } from '../../ports/service/egress.ts'
import { keepAllowed, requireAccess } from '../identity/access.ts'
import type { UsecaseDeps } from '../service/deps.ts'

/** Which addresses calls to this provider may use. */
export function policyOf(
  { provider }: ModelChoice,
  settings: Pick<UsecaseDeps['settings'], 'allowNetworks' | 'ownAddresses'>,
): EgressPolicy {
  return {
    allowNetworks: [...settings.allowNetworks],
    deny: [...settings.ownAddresses()],
    allowedHosts: provider.allowedHosts,
    ...trustOf(provider),
  }
}

/** Every call checks cool-downs; the check never reads the store. */
function inMemory(limits: RateLimits): RouterDeps['rateLimits'] {
  return {
    take: (whose, want, limit) => limits.take(whose, want, limit),
    settle: (whose, tokens, limit) => limits.settle(whose, tokens, limit),
    coolDown: (provider, coolDown) => limits.coolDown(provider, coolDown),
    coolingDown: (provider, model) => limits.peekCoolDown(provider, model),
  }
}

type ServiceModelOptions = Pick<
  RouterDeps,
  'agent' | 'retry' | 'maxCoolDownWaitMs' | 'waitsIfAsked' | 'onBegin' | 'onEnd'
>

/** Asks the choices in order. */
export function openServiceModel(
  choices: ModelChoice[],
  { ports, settings, health }: Pick<UsecaseDeps, 'ports' | 'settings' | 'health'>,
  { onEnd, ...options }: ServiceModelOptions,
): ModelClient {
  return createModelRouter(choices, {
    egress: ports.egress,
    policyFor: (choice) => policyOf(choice, settings),
    clock: ports.clock,
    random: () => ports.ids.random(),
    rateLimits: inMemory(ports.records.rateLimits),
    onEnd(call) {
      health?.noteEnd(call)
      onEnd?.(call)
    },
    onUnknown: health?.noteUnknown,
    ...options,
  })
}

type ModelUse = { namespace: string; name: string; model?: string }

/** The access that a call of the model needs. */
function callOf(use: ModelUse) {
  return { verb: 'use', kind: 'Provider', ...use } as const
}

/** Throws Forbidden with the reason. */
export function requireModel(ports: Pick<Ports, 'authorizer'>, caller: Caller, use: ModelUse): Promise<void> {
  return requireAccess(ports, caller, callOf(use))
}

/** The choices that the caller may use, in order. */
export function keepModels<T>(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  { of, read }: { of: readonly T[]; read: (one: T) => ModelUse },
): Promise<T[]> {
  return keepAllowed(ports, caller, { of, read: (one) => callOf(read(one)) })
}

/** The choices without the fallbacks that the caller may not use; Forbidden when the first one is not allowed. */
export async function keepChoices(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  choices: readonly [ModelChoice, ...ModelChoice[]],
): Promise<[ModelChoice, ...ModelChoice[]]> {
  const [first, ...others] = choices
  const read = ({ provider, model }: ModelChoice) => ({ namespace: provider.namespace, name: provider.name, model })
  await requireModel(ports, caller, read(first))
  return [first, ...(await keepModels(ports, caller, { of: others, read }))]
}
