// Client of the control service of actors, by gRPC. What it throws are WorkspaceErrors.
import { readFileSync } from 'node:fs'
import type { ChannelCredentials, Client, Metadata, ServiceError } from '@grpc/grpc-js'
import { messageOf } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import { once } from '../../lib/once.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { type ActorStatus, actorProtocol, type ControlCall } from './protocol.ts'

/** An atespace keeps the names of its actors apart from those of others; there is one for each namespace. */
export type ActorRef = { atespace: string; name: string }

export type Actor = {
  actor_id: string
  atespace: string
  version: string
  actor_template_namespace: string
  actor_template_name: string
  status: ActorStatus
  /** Absent: it was never suspended. */
  latest_snapshot_info: object | null
  worker_pool_name: string
}
export type Worker = { actor_id: string; actor_atespace: string; node_name: string; worker_pool: string }

/**
 * Whom the certificate of the control service must come from (PEM), and the file with the token that each call shows it, where
 * it asks for one: whose certificate is not checked is shown none.
 */
export type ActorTrust = { caFile: string; tokenFile?: string | undefined } | 'insecure'

export type ActorControlOptions = {
  /** `host:port`. */
  endpoint: string
  trust: ActorTrust
}

/** What the service refuses for now: `precondition` names what is missing, such as a free worker. */
export class ActorRefusal extends WorkspaceError {
  readonly precondition: string

  constructor(precondition: string, options: ErrorOptions) {
    super('ProviderUnavailable', `the actor service refused: ${precondition}`, options)
    this.precondition = precondition
  }
}

export interface ActorControl {
  /** Undefined when there is none. */
  get(ref: ActorRef): Promise<Actor | undefined>
  /** Unless it exists. `labels` are those of the pool that it must run in. */
  create(ref: ActorRef, template: ResourceKey, labels: Record<string, string>): Promise<void>
  suspend(ref: ActorRef): Promise<void>
  /** Rejects with ActorRefusal while no worker is free. `boot`: from scratch, without the template's snapshot. */
  resume(ref: ActorRef, boot: boolean, signal: AbortSignal): Promise<Actor>
  /** Of a suspended actor. */
  delete(ref: ActorRef): Promise<void>
  list(): AsyncIterable<Actor>
  listWorkers(): Promise<Worker[]>
  /** A token that tells others which session speaks. `token` shows who asks. */
  mintJwt(
    request: { audience: string[]; appId: string; userId: string; sessionId: string },
    token: string,
  ): Promise<string>
  close(): void
}

const callMs = 10_000
/** Restoring a snapshot or storing one takes as long as its size asks for. */
const longCallMs = 120_000
const pageSize = 500
const maxTries = 4
/** https://grpc.io/docs/guides/status-codes/ */
const code = { notFound: 5, alreadyExists: 6, failedPrecondition: 9, aborted: 10 } as const
/** Trying again later is of no use. */
const misuse: readonly number[] = [3, 12, 13, 15]
const protectedCodes: readonly number[] = [7, 16]

type Unary = (
  request: object,
  metadata: Metadata,
  options: { deadline: number },
  callback: (error: ServiceError | null, answer: unknown) => void,
) => { cancel(): void }

type Parts = {
  client: Record<string, Unary> & Client
  identity: Record<string, Unary> & Client
  /** `token`: in place of that of the file. */
  metadata: (token?: string) => Metadata
}

async function load({ endpoint, trust }: ActorControlOptions): Promise<Parts> {
  const [{ credentials, loadPackageDefinition, Metadata }, { fromJSON }] = await Promise.all([
    import('@grpc/grpc-js'),
    import('@grpc/proto-loader'),
  ])
  const loaded = loadPackageDefinition(
    fromJSON(actorProtocol as Parameters<typeof fromJSON>[0], {
      keepCase: true,
      longs: String,
      enums: String,
      defaults: true,
    }),
  )
  const { Control, SessionIdentity } = loaded.ateapi as unknown as Record<
    string,
    new (
      address: string,
      credentials: ChannelCredentials,
    ) => Parts['client']
  >
  if (Control === undefined || SessionIdentity === undefined) throw new Error('the protocol of actors has no services')
  const secure =
    trust === 'insecure'
      ? credentials.createSsl(null, null, null, { rejectUnauthorized: false, checkServerIdentity: () => undefined })
      : credentials.createSsl(readFileSync(trust.caFile))
  return {
    client: new Control(endpoint, secure),
    identity: new SessionIdentity(endpoint, secure),
    metadata: (token = readCallToken(trust)) => {
      const metadata = new Metadata()
      if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
      return metadata
    },
  }
}

/** Read for each call: the cluster renews the token in its file. */
function readCallToken(trust: ActorTrust): string | undefined {
  if (trust === 'insecure' || trust.tokenFile === undefined) return undefined
  try {
    return readFileSync(trust.tokenFile, 'utf8').trim()
  } catch (cause) {
    const message = `the token for the actor service cannot be read: ${messageOf(cause)}`
    throw new WorkspaceError('ProviderUnavailable', message, { cause })
  }
}

function explain(error: ServiceError): Error {
  const { code: status, details } = error
  if (status === code.failedPrecondition) return new ActorRefusal(details, { cause: error })
  if (misuse.includes(status)) {
    return new WorkspaceError('ProtocolError', `the actor service sent an unexpected answer: ${details}`, {
      cause: error,
    })
  }
  const words = protectedCodes.includes(status) ? 'does not let this service in' : 'does not answer'
  return new WorkspaceError('ProviderUnavailable', `the actor service ${words}: ${details}`, { cause: error })
}

function statusOf(error: unknown): number | undefined {
  return ((error as Error).cause as ServiceError | undefined)?.code
}

type CallOptions = { signal?: AbortSignal; timeoutMs?: number }

function ask<T>(unary: Unary, target: Client, request: object, call: CallOptions & { metadata: Metadata }): Promise<T> {
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + (call.timeoutMs ?? callMs) }
    const running = unary.call(target, request, call.metadata, options, (error, answer) =>
      error === null ? resolve(answer as T) : reject(explain(error)),
    )
    onAbort(call.signal, () => running.cancel())
  })
}

/** Two writers at once: the service asks for another try. */
async function repeatWhenAborted<T>(run: () => Promise<T>): Promise<T> {
  for (let left = maxTries; ; left -= 1) {
    try {
      return await run()
    } catch (error) {
      if (left === 1 || statusOf(error) !== code.aborted) throw error
    }
  }
}

/** The answer, or undefined when it failed with this status. */
async function unless<T>(status: number, answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (statusOf(error) !== status) throw error
    return undefined
  }
}

/** Loads what it needs, and connects, with the first call. */
export function createActorControl(options: ActorControlOptions): ActorControl {
  let isOpen = false
  const open = once(() => {
    isOpen = true
    return load(options)
  })

  async function send<T>(name: ControlCall, request: object, call: CallOptions = {}): Promise<T> {
    const { client, metadata } = await open()
    const unary = client[name]
    if (unary === undefined) throw new Error(`the protocol of actors has no ${name}`)
    return repeatWhenAborted(() => ask<T>(unary, client, request, { ...call, metadata: metadata() }))
  }

  async function makeAtespace(name: string): Promise<void> {
    await unless(code.alreadyExists, send('CreateAtespace', { name }))
  }

  return {
    async get(ref) {
      return (await unless(code.notFound, send<{ actor: Actor }>('GetActor', { actor_ref: ref })))?.actor
    },
    async create(ref, { namespace, name }, labels) {
      await makeAtespace(ref.atespace)
      const template = { actor_template_namespace: namespace, actor_template_name: name }
      const selected = Object.keys(labels).length === 0 ? {} : { worker_selector: { match_labels: labels } }
      await unless(code.alreadyExists, send('CreateActor', { actor_ref: ref, ...template, ...selected }))
    },
    async suspend(ref) {
      await unless(code.notFound, send('SuspendActor', { actor_ref: ref }, { timeoutMs: longCallMs }))
    },
    async resume(ref, boot, signal) {
      return (await send<{ actor: Actor }>('ResumeActor', { actor_ref: ref, boot }, { signal, timeoutMs: longCallMs }))
        .actor
    },
    async delete(ref) {
      await unless(code.notFound, send('DeleteActor', { actor_ref: ref }))
    },
    async *list() {
      let token = ''
      do {
        const page: { actors: Actor[]; next_page_token: string } = await send('ListActors', {
          page_size: pageSize,
          page_token: token,
        })
        yield* page.actors
        token = page.next_page_token
      } while (token !== '')
    },
    async listWorkers() {
      return (await send<{ workers: Worker[] }>('ListWorkers', {})).workers
    },
    async mintJwt({ audience, appId, userId, sessionId }, token) {
      const { identity, metadata } = await open()
      const request = { audience, app_id: appId, user_id: userId, session_id: sessionId }
      const { MintJWT } = identity
      if (MintJWT === undefined) throw new Error('the protocol of actors has no MintJWT')
      return (await ask<{ session_jwt: string }>(MintJWT, identity, request, { metadata: metadata(token) })).session_jwt
    },
    close() {
      if (isOpen)
        void open().then(
          ({ client, identity }) => [client, identity].map((one) => one.close()),
          () => {},
        )
    },
  }
}
