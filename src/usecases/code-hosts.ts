// The hosts of the code host, as the settings name them.
import type { UsecaseDeps } from './deps.ts'

export function codeHostsOf({ settings, ports }: Pick<UsecaseDeps, 'settings' | 'ports'>): readonly string[] {
  return settings.codeHosts ?? ports.codeHosts.hosts
}
