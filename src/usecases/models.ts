// A model for the service's own calls (chat, proxies): the choices with limits, cool-downs and usage over all replicas.
import type { ModelChoice } from '../contract/api/assignment.ts'
import type { ModelClient } from '../llm/model.ts'
import { createModelRouter, type RouterDeps } from '../llm/router.ts'
import type { EgressPolicy } from '../ports/egress.ts'
import type { UsecaseDeps } from './deps.ts'

/** Where calls to this provider may go. */
export function policyOf({ provider }: ModelChoice, settings: UsecaseDeps['settings']): EgressPolicy {
  return {
    allowNetworks: [...settings.allowNetworks],
    deny: [...settings.ownAddresses()],
    ...(provider.allowedHosts === undefined ? {} : { allowedHosts: provider.allowedHosts }),
    ...(provider.trusted === undefined ? {} : { trusted: provider.trusted }),
  }
}

/** Asks the choices in order; `onUsage` is called once for each call that was answered. */
export function openModel(
  choices: ModelChoice[],
  { ports, settings, health }: Pick<UsecaseDeps, 'ports' | 'settings' | 'health'>,
  options: Pick<RouterDeps, 'onUsage' | 'retry' | 'maxCoolDownWaitMs'>,
): ModelClient {
  return createModelRouter(choices, {
    egress: ports.egress,
    policyFor: (choice) => policyOf(choice, settings),
    clock: ports.clock,
    random: () => ports.ids.random(),
    rateLimits: ports.records.rateLimits,
    ...(health === undefined ? {} : { onEnd: health.noteEnd }),
    ...options,
  })
}
