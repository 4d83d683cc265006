// What the programs of an attempt show to the gate of the network where all attempts share its port: the password of the proxy's
// address, signed, so that nothing is stored and every replica can verify it.
import type { Clock } from '../lib/clock.ts'
import type { WorkerIdentity } from '../ports/identity/identity.ts'
import { createWorkerTokens, deriveTokenKey } from './worker-tokens.ts'

export type GateCredentials = {
  /** User and password, as the address of a proxy has them. */
  mint(identity: WorkerIdentity): Promise<{ user: string; password: string }>
  /** From the header Proxy-Authorization; undefined for any other. */
  verify(header: string | undefined): Promise<WorkerIdentity | undefined>
}

const user = 'attempt'
/** Names of tasks and namespaces are short. */
const maxHeaderLength = 4096

/** `key` is the same in all replicas. A token for the gate is of no use anywhere else, nor another one here. */
export function createGateCredentials({ key, clock }: { key: Uint8Array; clock: Clock }): GateCredentials {
  const tokens = createWorkerTokens({ keys: deriveTokenKey('gate', key), clock })
  return {
    mint: async (identity) => ({ user, password: await tokens.mint(identity) }),
    async verify(header = '') {
      const [, encoded] = header.length > maxHeaderLength ? [] : (/^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? [])
      if (encoded === undefined) return undefined
      const [name, password = ''] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
      return name === user ? await tokens.verify(password).catch(() => undefined) : undefined
    },
  }
}
