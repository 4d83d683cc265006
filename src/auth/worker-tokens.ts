// Tokens of task attempts in embedded mode: signed, so that nothing is stored and every part of the service can verify
// them.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import { SvcError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { tryParseJson } from '../lib/json.ts'
import { memoizeByObject } from '../lib/memoize.ts'
import type { WorkerIdentity, WorkerTokens } from '../ports/identity/identity.ts'
import type { DerivedKey, SecretKeys } from '../store/local/secret-key.ts'

export type WorkerTokensOptions = { keys: Pick<SecretKeys, 'derive'>; clock: Clock }

const audience = 'svc-internal'
const purpose = 'worker-tokens'

type Header = { alg: string; kid: string }
type Claims = { aud: string; ns: string; task: string; uid: string; attempt: number }

function encodePart(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decodePart(part: string): unknown {
  return tryParseJson(Buffer.from(part, 'base64url').toString('utf8'))
}

/** From the bytes of a key Node makes this anew for every signature, which takes longer than the signature. */
const signingKeyOf = memoizeByObject(({ key }: DerivedKey) => createSecretKey(key))

function sign(key: DerivedKey, signed: string): Buffer {
  return createHmac('sha256', signingKeyOf(key)).update(signed).digest()
}

function isHeader(value: unknown): value is Header {
  const header = value as Partial<Header> | null | undefined
  return header?.alg === 'HS256' && typeof header.kid === 'string'
}

function isClaims(value: unknown): value is Claims {
  const claims = value as Partial<Claims> | null | undefined
  const texts = [claims?.ns, claims?.task, claims?.uid]
  return claims?.aud === audience && texts.every((text) => typeof text === 'string') && Number.isInteger(claims.attempt)
}

function findKey(keys: DerivedKey[], header: unknown): DerivedKey | undefined {
  return isHeader(header) ? keys.find(({ id }) => id === header.kid) : undefined
}

/** The claims of a token with a good signature, whatever they say. */
function openToken(keys: DerivedKey[], token: string): unknown {
  const [header = '', payload = '', signature = '', ...rest] = token.split('.')
  const key = findKey(keys, decodePart(header))
  if (key === undefined || rest.length > 0) return undefined
  const expected = sign(key, `${header}.${payload}`)
  const received = Buffer.from(signature, 'base64url')
  return received.length === expected.length && timingSafeEqual(received, expected) ? decodePart(payload) : undefined
}

/** A key for tokens of one kind, derived from one that serves other purposes as well. */
export function deriveTokenKey(id: string, key: Uint8Array): WorkerTokensOptions['keys'] {
  const derived = { id, key: createHmac('sha256', key).update(`${id} ${purpose}`).digest() }
  return { derive: () => [derived] }
}

/** JSON Web Signatures (RFC 7515, HS256) under a key derived from the key file: the same in every process. */
export function createWorkerTokens({ keys, clock }: WorkerTokensOptions): WorkerTokens {
  return {
    mint: async (identity) => {
      const [current] = keys.derive(purpose)
      if (current === undefined) throw new SvcError('Internal', 'There is no key to sign worker tokens with.')
      const { taskUid, attempt, namespace, taskName } = identity
      const issued = Math.floor(clock.now().getTime() / 1000)
      const claims = { aud: audience, ns: namespace, task: taskName, uid: taskUid, attempt, iat: issued }
      const signed = `${encodePart({ alg: 'HS256', typ: 'JWT', kid: current.id })}.${encodePart(claims)}`
      return `${signed}.${sign(current, signed).toString('base64url')}`
    },
    recognizes: (token) => openToken(keys.derive(purpose), token) !== undefined,
    verify: async (token): Promise<WorkerIdentity> => {
      const claims = openToken(keys.derive(purpose), token)
      if (!isClaims(claims)) throw new SvcError('Unauthenticated', 'The worker token is not valid.')
      return { taskUid: claims.uid, attempt: claims.attempt, namespace: claims.ns, taskName: claims.task }
    },
  }
}
