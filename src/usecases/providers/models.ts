// A model for the service's own calls (chat, proxies): its choices, with limits, cool-downs and usage across replicas.
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { ModelClient } from '../../llm/call/model.ts'
import { trustOf } from '../../llm/call/model-client.ts'
import { createModelRouter, type RouterDeps } from '../../llm/call/router.ts'
import type { RateLimits } from '../../ports/providers/rate-limits.ts'
import type { EgressPolicy } from '../../ports/service/egress.ts'
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

/** Asks the choices in order. */
export function openModel(
  choices: ModelChoice[],
  { ports, settings, health }: Pick<UsecaseDeps, 'ports' | 'settings' | 'health'>,
  options: Pick<RouterDeps, 'agent' | 'retry' | 'maxCoolDownWaitMs'>,
): ModelClient {
  return createModelRouter(choices, {
    egress: ports.egress,
    policyFor: (choice) => policyOf(choice, settings),
    clock: ports.clock,
    random: () => ports.ids.random(),
    rateLimits: inMemory(ports.records.rateLimits),
    onEnd: health?.noteEnd,
    ...options,
  })
}
