// The code host as the settings describe it.
import { createCodeHosts } from '../codehost/code-hosts.ts'
import type { Config } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import type { CodeHosts } from '../ports/codehost/code-host.ts'
import type { Egress, EgressPolicy } from '../ports/service/egress.ts'
import { systemClock } from '../runtime/host/clock.ts'

type Addresses = Pick<Config, 'codehostHosts' | 'codehostApiUrl'>

/** By host. InvalidRequest for an address of a host that is not in use. */
function readApiUrls({ codehostHosts: hosts, codehostApiUrl }: Addresses): Record<string, string> {
  return Object.fromEntries(
    codehostApiUrl.map(({ host = hosts[0] ?? '', url }) => {
      if (hosts.includes(host)) return [host, url]
      throw new SvcError('InvalidRequest', `--codehost-api-url names ${host}, which --codehost-hosts does not`)
    }),
  )
}

export function openCodeHosts(config: Addresses, reach: { egress: Egress; policy: EgressPolicy }): CodeHosts {
  const apiUrls = readApiUrls(config)
  return createCodeHosts({ hosts: config.codehostHosts, apiUrls, ...reach, now: () => systemClock.now().getTime() })
}
