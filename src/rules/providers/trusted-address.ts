// Whether the machine's owner vouched for a provider's base URL, so that it may be a loopback or private address
// (NET-004).
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import { mayBePrivate } from './address.ts'

export const trustedAnnotation = 'svc.ai/trusted-base-url'

/**
 * The annotation holds for exactly the address it was given for; changing the address loses the trust. A public address
 * needs none, and gets none: its name must not lead into the private network later.
 */
export function isTrustedAddress(provider: Provider): boolean {
  const trusted = provider.metadata.annotations?.[trustedAnnotation]
  return trusted !== undefined && trusted === provider.spec.baseURL && mayBePrivate(trusted)
}

export const allowedHostsAnnotation = 'svc.ai/allowed-hosts'

/** Hosts that a Secret may be sent to; undefined means any (SECRET-006). */
export function readAllowedHosts(annotations: Record<string, string> | undefined): string[] | undefined {
  const text = annotations?.[allowedHostsAnnotation]
  if (text === undefined) return undefined
  return text
    .split(',')
    .map((host) => host.trim())
    .filter((host) => host !== '')
}
