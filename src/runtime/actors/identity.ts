// Identities of sessions: a token that tells others which session in an actor speaks.
import { messageOf } from '../../errors.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import type { ActorControl, ActorRef } from './control.ts'

export type IdentityOptions = {
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

export function createIdentities({ control, readToken, required, onFault, ...asked }: IdentityOptions): MintIdentity {
  const { audience, appId, userId } = asked
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
