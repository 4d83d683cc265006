// Where data, configuration and run state lie on this machine.
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Environment } from './environment.ts'

export type Paths = {
  dataDir: string
  configDir: string
  /** Key that encrypts secrets; outside the data folder (MODE-014). */
  secretKeyFile: string
  /** The owner's generated token, one per data folder (MODE-005). */
  tokenFile: string
  /** `{url, pid}` of the service that holds the data folder now; for the command line. */
  serviceFile: string
}

type PathSettings = { dataDir?: string | undefined; configDir?: string | undefined; secretKeyFile?: string | undefined }

/** An empty or relative value of an XDG variable counts as unset (XDG Base Directory Specification). */
export function readBaseFolder(value: string | undefined): string | undefined {
  return value !== undefined && isAbsolute(value) ? value : undefined
}

export function resolvePaths(env: Environment, settings: PathSettings): Paths {
  const home = env.HOME ?? homedir()
  const dataDir = resolve(
    settings.dataDir ?? join(readBaseFolder(env.XDG_DATA_HOME) ?? join(home, '.local', 'share'), 'svc'),
  )
  const configDir = resolve(
    settings.configDir ?? join(readBaseFolder(env.XDG_CONFIG_HOME) ?? join(home, '.config'), 'svc'),
  )
  const instance = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  return {
    dataDir,
    configDir,
    secretKeyFile: resolve(settings.secretKeyFile ?? join(configDir, 'secret.key')),
    tokenFile: join(configDir, `token-${instance}`),
    serviceFile: join(configDir, `service-${instance}.json`),
  }
}
