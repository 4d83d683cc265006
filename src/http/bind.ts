// Binds a route of the table to its handler: authenticate, read, call, answer. Schemas are compiled once; answers are
// not validated.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Route, RouteAnswer } from '../contract/api/resources/route.ts'
import { isSvcError, SvcError } from '../errors.ts'
import type { Authenticator, Caller, WorkerIdentity, WorkerTokens } from '../ports/identity/identity.ts'
import type { RunnerIdentity, Runners } from '../ports/tasks/runners.ts'
import { requireRight } from '../usecases/index.ts'
import { type Answer, type AnswerContext, sendAnswer } from './answer.ts'
import { type Call, parseCall } from './call.ts'
import type { EventStreamOptions } from './event-stream.ts'
import type { AttemptGuard } from './middleware/attempt-guard.ts'
import { recordTrail } from './middleware/audit.ts'
import { type CredentialHeader, readCredential } from './middleware/credentials.ts'

type Handler<R extends Route> = (call: Call<R>) => Promise<Answer<RouteAnswer<R>>> | Answer<RouteAnswer<R>>

export type BindOptions = {
  /** Checks the request before it is parsed, for errors that take precedence over a 400. */
  before?: (request: FastifyRequest) => void
  /** The handler needs the text of the JSON body, in `request.jsonText`. */
  keepsText?: boolean
}

/** Binds a route to what answers it. */
export type BindAnswer = <R extends Route>(route: R, handler: Handler<R>, options?: BindOptions) => void

export type Bind = BindAnswer & {
  /** Answers with what the handler makes, as JSON. */
  json<R extends Route>(route: R, make: (call: Call<R>) => Promise<RouteAnswer<R>> | RouteAnswer<R>): void
  /** Answers with nothing, once it is done. */
  empty<R extends Route>(route: R, act: (call: Call<R>) => Promise<unknown>, options?: BindOptions): void
}

type Identity = Caller | WorkerIdentity | RunnerIdentity

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | undefined
    /** The address the request comes from. */
    clientAddress: string
    jsonText: string | undefined
  }
  interface FastifyContextConfig {
    route?: Route
    keepsText?: boolean
  }
}

export type BindDeps = {
  authenticator: Authenticator
  workerTokens: WorkerTokens
  /** Absent: runners are refused. */
  runners: Runners | undefined
  /** Headers of context tokens, for users' routes. */
  tokenHeaders: readonly CredentialHeader[]
  /** Counted separately: guessing tokens at one door blocks nobody at the other. */
  guards: { users: AttemptGuard; workers: AttemptGuard }
  answers: Pick<AnswerContext, 'events' | 'trackStream'>
}

function successStatusOf(route: Route): number {
  return Math.min(...Object.keys(route.responses).map(Number))
}

/** The caller that the token belongs to; every bad token gets the same message. */
async function identifyWorker(token: string, { workerTokens }: BindDeps): Promise<WorkerIdentity> {
  try {
    return await workerTokens.verify(token)
  } catch (error) {
    if (!isSvcError(error, 'Unauthenticated')) throw error
    throw new SvcError('Unauthenticated', 'invalid token', { cause: error })
  }
}

async function identifyRunner(token: string, { runners }: BindDeps): Promise<RunnerIdentity> {
  const found = runners?.identify(token)
  if (found !== undefined) return found
  const why = runners === undefined ? 'this service accepts no runners' : 'it is of no runner'
  throw new SvcError('Unauthenticated', 'invalid token', { cause: new Error(why) })
}

/**
 * The caller that the credential belongs to. A worker route accepts no context tokens, and a user's route no workers.
 */
async function identify(route: Route, request: FastifyRequest, deps: BindDeps): Promise<Identity> {
  const { authenticator, workerTokens, guards } = deps
  const isUser = route.auth === 'user'
  const credential = readCredential(request.headers, isUser ? deps.tokenHeaders : [])
  const { token } = credential
  request.trail = { attempted: true }
  const { clientAddress: address, id: requestId, socket: connection } = request
  const source = { address, requestId, connection, route: route.path }
  if (isUser) {
    const isOwn = () => authenticator.recognizes?.(credential) ?? false
    return guards.users(source, { token, isOwn, check: () => authenticator.authenticate(credential) })
  }
  if (route.auth === 'runner') {
    const isOwn = () => deps.runners?.identify(token) !== undefined
    return guards.workers(source, { token, isOwn, check: () => identifyRunner(token, deps) })
  }
  const isOwn = () => workerTokens.recognizes?.(token) ?? false
  return guards.workers(source, { token, isOwn, check: () => identifyWorker(token, deps) })
}

function createIdentifier(route: Route, deps: BindDeps): ((request: FastifyRequest) => Promise<void>) | undefined {
  if (route.auth === 'none') return undefined
  return async (request) => {
    request.identity = await identify(route, request, deps)
    checkVerb(route, request.identity)
  }
}

/** Refuses what the caller may never do, before the body is parsed. */
function checkVerb(route: Route, identity: unknown): void {
  if (route.auth === 'user' && route.verb !== undefined) requireRight(identity as Caller, route.verb)
}

/** Streams outlive what they were let in with: a token is revoked, or runs out. */
function recheckEvents(
  request: FastifyRequest,
  { answers, authenticator, tokenHeaders }: BindDeps,
): EventStreamOptions {
  const credential = readCredential(request.headers, tokenHeaders)
  return { ...answers.events, recheck: () => authenticator.authenticate(credential) }
}

function contextOf(route: Route, deps: BindDeps): AnswerContext {
  const headers = route.headers?.shape ?? {}
  return {
    ...deps.answers,
    status: successStatusOf(route),
    isRead: route.method === 'GET',
    isConditional: route.method === 'GET' && 'if-none-match' in headers,
  }
}

/** Creates `bind` for an instance; routes with a raw body need an instance that does not parse bodies. */
export function createBind(app: FastifyInstance, deps: BindDeps): Bind {
  function bind<R extends Route>(route: R, handler: Handler<R>, options: BindOptions = {}): void {
    const onRequest = createIdentifier(route, deps)
    const context = contextOf(route, deps)
    const contextFor = (request: FastifyRequest): AnswerContext =>
      route.stream === undefined || route.auth !== 'user'
        ? context
        : { ...context, events: recheckEvents(request, deps) }
    app.route({
      method: route.method,
      url: route.path,
      exposeHeadRoute: route.method === 'GET' && route.stream === undefined,
      config: { route, keepsText: options.keepsText ?? false },
      ...(onRequest === undefined ? {} : { onRequest }),
      ...(route.body !== undefined && route.bodyLimit !== undefined ? { bodyLimit: route.bodyLimit } : {}),
      async handler(request, reply) {
        options.before?.(request)
        const call = parseCall(route, request, request.identity)
        if (route.auth !== 'none') recordTrail(request, call)
        return sendAnswer(await handler(call), request, reply, contextFor(request))
      },
    })
  }
  const json: Bind['json'] = (route, make) => bind(route, async (call) => ({ json: await make(call) }))
  const empty: Bind['empty'] = (route, act, options) =>
    bind(route, (call) => act(call).then(() => ({ empty: true })), options)
  return Object.assign(bind, { json, empty })
}
