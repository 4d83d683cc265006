// Tokens for the daemon of an actor, and identities of sessions, which show others which session in an actor speaks.
// All actors of a template begin with the same bootstrap token, which each of them takes once: for its first hand-off
// token. From then on every tenancy has a token of its own, which the one before it authorises; the daemon refuses any
// that it has had before.
import { createHmac, randomBytes } from 'node:crypto'
import { messageOf } from '../../errors.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import type { ActorControl, ActorRef } from './control.ts'
import { type Daemon, joinRoot, TokenRefused } from './daemon.ts'

/** Relative to the root. The daemon keeps what is written there in its memory, not in the file. */
export const handoffFile = '.svc/handoff-token'

export type TokenOptions = {
  /** Secret of this installation; from it every replica makes the same tokens. */
  key: Uint8Array
  /** Rejects when the Secret is missing. */
  readBootstrapToken(): Promise<string>
}

export interface DaemonTokens {
  /** Gives the daemon a new token; `root` is its folder of staged files. Whether it had one before. */
  handOver(actor: ActorRef, daemon: Daemon, root: string): Promise<boolean>
  /** Calls with the daemon's token. WorkspaceLost when the daemon began anew, or has somebody else's. */
  use<T>(actor: ActorRef, daemon: Daemon, call: (token: string) => Promise<T>): Promise<T>
}

/** `<public part>.<secret part>`: the daemon tells the public one, and the key makes the other from it. */
function makeToken(key: Uint8Array, { atespace, name }: ActorRef, handoff: string): string {
  const mac = createHmac('sha256', key)
    .update(JSON.stringify(['actor', atespace, name, handoff]))
    .digest('base64url')
  return `${handoff}.${mac}`
}

export function createDaemonTokens({ key, readBootstrapToken }: TokenOptions): DaemonTokens {
  async function handOver(actor: ActorRef, daemon: Daemon, root: string): Promise<boolean> {
    const { handoff } = await daemon.health()
    const before = handoff === undefined ? await readBootstrapToken() : makeToken(key, actor, handoff)
    const token = makeToken(key, actor, randomBytes(16).toString('hex'))
    try {
      await daemon.putFiles([{ path: joinRoot(root, handoffFile), bytes: Buffer.from(token), mode: 0o600 }], before)
      return handoff !== undefined
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      const which = handoff === undefined ? 'the bootstrap token' : 'the hand-off token'
      const message = `the daemon of the actor refused ${which}; it was used before, or the actor belongs to another installation`
      throw new WorkspaceError('ProtocolError', message, { cause: error })
    }
  }

  async function use<T>(actor: ActorRef, daemon: Daemon, call: (token: string) => Promise<T>): Promise<T> {
    const { handoff } = await daemon.health()
    if (handoff === undefined) {
      throw new WorkspaceError('WorkspaceLost', 'the actor was started anew: what ran in it is gone')
    }
    try {
      return await call(makeToken(key, actor, handoff))
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error
      throw new WorkspaceError('WorkspaceLost', 'the actor belongs to somebody else now', { cause: error })
    }
  }

  return { handOver, use }
}

type IdentityOptions = {
  control: Pick<ActorControl, 'mintJwt'>
  /** Of a Secret; rejects when it is missing. */
  readToken(): Promise<string>
  audience: string
  appId: string
  userId: string
  /** An actor without an identity is not used. */
  required: boolean
  onFault(message: string): void
}

/** The identity, or undefined when there is none and none is needed. */
export type MintIdentity = (actor: ActorRef) => Promise<string | undefined>

export function createIdentities({ control, readToken, required, onFault, ...claims }: IdentityOptions): MintIdentity {
  const { audience, appId, userId } = claims
  return async ({ name }) => {
    try {
      const request = { audience: [audience], appId, userId, sessionId: name }
      return await control.mintJwt(request, await readToken())
    } catch (error) {
      const message = `the session has no identity: ${messageOf(error)}`
      if (required) throw new WorkspaceError('ProviderUnavailable', message, { cause: error })
      onFault(message)
      return undefined
    }
  }
}
