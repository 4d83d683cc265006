// Settings of the code host's webhook, from the configuration.
import type { Config } from '../config/load.ts'
import { defaultWebhookSettings, keyOfAction, type WebhookSettings } from '../usecases/codehost/deliveries/settings.ts'

export function readWebhookSettings(config: Config): Omit<WebhookSettings, 'hosts'> {
  const agents = config.codehostLabelAgent.map(({ action, agent }) => [keyOfAction(action), agent])
  return {
    ...defaultWebhookSettings,
    secret: config.codehostWebhookSecret,
    previousSecrets: config.codehostWebhookPreviousSecrets,
    secretName: config.codehostWebhookSecretName,
    namespace: config.codehostLabelTriggerNamespace ?? config.watchNamespace[0] ?? defaultWebhookSettings.namespace,
    prefix: config.codehostLabelTriggerPrefix,
    agent: config.codehostLabelTriggerAgent,
    agents: Object.fromEntries(agents) as Record<string, string>,
    gitSecret: config.codehostLabelTriggerGitSecret,
    timeout: config.codehostLabelTriggerTimeout,
    maxTurns: config.codehostLabelTriggerMaxTurns,
  }
}
