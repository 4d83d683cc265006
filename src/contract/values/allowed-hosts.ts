// The hosts that a Secret may be sent to, as its annotation names them (SECRET-006).
import { portOf } from '../../lib/url-port.ts'

/** Whether a URL leads to one of them: `host`, `host:port` or `*.domain`. */
export function isAllowedHost(url: URL, hosts: readonly string[]): boolean {
  const port = portOf(url)
  return hosts.some((entry) => {
    const host = entry.trim().toLowerCase()
    if (host.startsWith('*.')) return url.hostname.endsWith(host.slice(1))
    return host === url.hostname || host === `${url.hostname}:${port}`
  })
}
