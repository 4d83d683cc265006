// Agents that labels of the code host start tasks with: a name that is none is said at the start, not with the first label.
import type { Logger } from '../observability/log.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import type { WebhookSettings } from '../usecases/index.ts'

/** One may still be made later, so that it is no reason to stop. */
export async function warnOfMissingAgents(
  resources: ResourceReader,
  { namespace, agent, agents }: Pick<WebhookSettings, 'namespace' | 'agent' | 'agents'>,
  log: Logger,
): Promise<void> {
  const names = new Set([...(agent === undefined ? [] : [agent]), ...Object.values(agents)])
  for (const name of names) {
    if ((await resources.get('Agent', { namespace, name })) !== undefined) continue
    log.warn({ agent: `${namespace}/${name}` }, 'labels of the code host are to start this agent, which does not exist')
  }
}
