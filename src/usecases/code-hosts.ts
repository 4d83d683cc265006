// The hosts of the code host, as the settings name them.
import type { UsecaseDeps } from './deps.ts'

export function codeHostsOf({ settings }: Pick<UsecaseDeps, 'settings'>): readonly string[] {
  return settings.codeHosts ?? ['github.com']
}
