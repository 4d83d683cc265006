// What the embedded mode stores in its data folder, and who gets in by what is stored there.
import { join } from 'node:path'
import { createWorkerTokens } from '../auth/worker-tokens.ts'
import { commandHint } from '../client/command-hint.ts'
import { systemClock as clock, systemIds as ids } from '../lib/system-clock.ts'
import { releaseLost } from '../runtime/workspaces/sweep.ts'
import type { Closing } from '../service/closing.ts'
import { createCredentials } from '../store/identity/sign-in-links.ts'
import { createTokenAuthenticator } from '../store/identity/token-authenticator.ts'
import { openSecretKeys } from '../store/local/secret-key.ts'
import { createEmbeddedSecrets } from '../store/local/secrets.ts'
import { createRecords } from '../store/records.ts'
import { createConfigMaps } from '../store/resources/configmaps.ts'
import { createResources } from '../store/resources/resources.ts'
import { createSecretStorage } from '../store/resources/secrets.ts'
import { openSqlite } from '../store/sqlite/database.ts'
import type { RingLimits } from '../store/watching/change-ring.ts'

type StoreOptions = {
  dataDir: string
  secretKeyFile: string
  ownerToken: string
  /** How many changes are remembered for watches; absent: the store's own limits. */
  ring?: RingLimits
}

export function databaseFile(dataDir: string): string {
  return join(dataDir, 'svc.db')
}

/** They are closed by `closing`, the last one opened first. */
export async function openEmbeddedStores(options: StoreOptions, closing: Closing) {
  const { dataDir, secretKeyFile, ownerToken, ring } = options
  const database = openSqlite({ path: databaseFile(dataDir), restoreCommand: commandHint('restore') })
  closing.add(() => database.close())
  const records = createRecords({ database, blobDir: dataDir, clock, ids })
  closing.add(() => records.close())
  await records.sweepOrphans()
  // Nobody but this process lends any.
  await releaseLost(records.workspaces, clock.now())
  const resources = await createResources(database, { clock, ids, ...(ring && { ring }) })
  closing.add(() => resources.close())
  const keys = await openSecretKeys(secretKeyFile)
  const credentials = createCredentials({ database, clock, ids })
  return {
    records,
    keys,
    idempotencyKey: keys.derive('idempotency')[0]?.key ?? Buffer.alloc(0),
    ports: {
      resources,
      secrets: createEmbeddedSecrets({ storage: createSecretStorage({ database }), keys, clock }),
      configMaps: createConfigMaps({ database, clock }),
      authenticator: createTokenAuthenticator({ ...credentials, clock, ownerToken }),
      ...credentials,
      workerTokens: createWorkerTokens({ keys, clock }),
      clock,
      ids,
      health: [{ name: 'store', check: database.check }],
    },
  }
}
