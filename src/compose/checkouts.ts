// Git repositories of tasks: their private parts lie in the data folder, of which no program of a task sees anything.
import { join } from 'node:path'
import { createCodeHosts } from '../codehost/code-hosts.ts'
import type { Config } from '../config/load.ts'
import { parseQuantity } from '../contract/values/quantity.ts'
import { saveChanges, saveDiff } from '../controllers/tasks/checkout.ts'
import { SvcError } from '../errors.ts'
import { type CheckoutsOptions, createCheckouts } from '../git/checkouts.ts'
import { createOutlines } from '../git/outlines.ts'
import { createRepositoryFolders } from '../git/repository-folders.ts'
import { createSourceTrees } from '../git/source-trees.ts'
import { systemClock } from '../lib/system-clock.ts'
import type { CodeHosts } from '../ports/codehost/code-host.ts'
import type { RepositoryFolders } from '../ports/codehost/repository-folders.ts'
import type { Records } from '../ports/index.ts'
import type { Outlines, SourceTrees } from '../ports/scans/source-trees.ts'
import type { Egress, EgressPolicy } from '../ports/service/egress.ts'
import type { Checkouts } from '../ports/workspaces/checkouts.ts'
import type { CheckoutParts } from '../runtime/attempts/checkout-changes.ts'

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

/** Where git servers may be; the service's own addresses are known once it listens. */
export function openReach({ allowNetwork }: Config) {
  let ownAddresses: () => string[] = () => []
  const policy: EgressPolicy = {
    allowNetworks: allowNetwork,
    get deny() {
      return ownAddresses()
    },
  }
  return {
    policy,
    setOwnAddresses(read: () => string[]): void {
      ownAddresses = read
    },
  }
}

type RepositoryPorts = { repositoryFolders: RepositoryFolders; sourceTrees: SourceTrees; outlines: Outlines }
type Reach = Pick<CheckoutsOptions, 'egress' | 'policy'>

function optionsOf({ paths, gitAuthor, gitSigningKey, gitCacheSize }: Config, reach: Reach): CheckoutsOptions {
  const root = join(paths.dataDir, 'git')
  const cacheBytes = parseQuantity(gitCacheSize)
  return { ...reach, root, author: gitAuthor, signingKey: gitSigningKey, cacheBytes }
}

export function openCheckouts(config: Config, reach: Reach): Checkouts {
  return createCheckouts(optionsOf(config, reach))
}

/** Checkouts of folders lie beside those of tasks, for as long as they are read; trees share the objects of both. */
export function openRepositories(config: Config, checkouts: Checkouts, reach: Reach): RepositoryPorts {
  const folders = join(config.paths.dataDir, 'git', 'folders')
  return {
    repositoryFolders: createRepositoryFolders(checkouts, folders),
    sourceTrees: createSourceTrees(optionsOf(config, reach)),
    outlines: createOutlines(),
  }
}

/** What workloads do with them. */
export function checkoutPartsOf(checkouts: Checkouts, { results, artifacts }: Records): CheckoutParts {
  return {
    checkouts,
    saveChanges: (key, changed) => saveChanges(results, key, changed),
    saveDiff: (...diff) => saveDiff(artifacts, ...diff),
  }
}
