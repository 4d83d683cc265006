// What a route is: one typed constant from which the server, the client and OpenAPI are made.
import { z } from 'zod'
import { type ErrorReason, errorStatus } from '../../../errors.ts'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import type { Access, AccessKind, AccessVerb } from '../identity/access.ts'

/** One problem of a request. */
export const ErrorDetail = z
  .object({
    path: field(z.string(), 'Field that is wrong; empty for the whole body.', 'spec.retryPolicy.maxRetries'),
    message: field(z.string(), 'What is wrong with it.', 'must be at most 100'),
  })
  .meta({ id: 'ErrorDetail' })

/** The form of every error that the service returns. */
export const ErrorBody = z
  .object({
    error: field(
      z.object({
        code: field(z.int(), 'HTTP status.', 400),
        reason: field(z.string().meta({ examples: Object.keys(errorStatus) }), 'Why, as one stable word for programs.'),
        message: field(z.string(), 'What is wrong and what to do, for people.', 'spec.type is required'),
        details: field(z.array(ErrorDetail).optional(), 'Every problem of the request.'),
        requestId: field(
          z.string(),
          'Id of the request, to look for in the logs.',
          '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10',
        ),
      }),
      'What went wrong.',
    ),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof ErrorBody>

export type { ErrorReason }

/** The HTTP methods of the API. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Who may call: a user, a worker with a token of its attempt, a runner with its own, or anybody. */
export type Auth = 'user' | 'worker' | 'runner' | 'none'

/** The right that the caller needs on the kind (in Kubernetes mode by SubjectAccessReview). */
export type RouteVerb = Pick<Access, 'verb' | 'kind'>

/** What one status of a route answers. */
export type RouteResponse = {
  description: string
  /** JSON body. */
  schema?: z.ZodType
  /** A body that is not JSON. */
  contentType?: string
}

/** One operation: its address, what it takes and what it answers. */
export type Route = {
  method: Method
  /** Parameters as `:id`. */
  path: string
  tag: string
  /** Present: a vendor's interface. Errors have the form of this family, and the framework does not see its requests. */
  family?: 'llma' | 'llmo'
  /** A few words for lists of operations. */
  summary: string
  /** What the operation does, in whole sentences. */
  description: string
  params?: z.ZodObject
  query?: z.ZodObject
  /** Header names in lower case. */
  headers?: z.ZodObject
  /** What it creates is itself a secret, so an `Idempotency-Key` has no effect. Other routes without this header refuse it. */
  ignoresIdempotencyKey?: true
  /** JSON body. */
  body?: z.ZodType
  /** The JSON body may be left out. */
  bodyOptional?: true
  /** A body that is streamed as it is, and the content type it is documented with. */
  rawBody?: string
  /** Bytes; absent: the service's own limit of 15 MiB. */
  bodyLimit?: number
  responses: Readonly<Record<number, RouteResponse>>
  auth: Auth
  verb?: RouteVerb
  /** Answers as an event stream, always or when the query asks for it. */
  stream?: 'sse'
}

/** What each error status means, wherever a route does not word it differently. */
export const errorDescriptions: Readonly<Record<number, string>> = {
  304: 'Not modified since the given ETag',
  400: 'The request is wrong; `details` has every problem',
  401: 'No credential, or a bad one',
  403: 'Not allowed',
  404: 'There is no such object',
  409: 'Conflicts with what there is',
  410: 'The cursor is too old; list again',
  413: 'Too large',
  415: 'The content type is not the one needed',
  429: 'Too many requests; see Retry-After',
  500: 'A fault of the service',
  501: 'Not configured on this service',
  503: 'Something the service needs is away; see Retry-After',
  507: 'The disk of the service is full',
}

/** Error answers beyond those that every route of the sort has. */
export function errorResponses(...statuses: number[]): Record<number, RouteResponse> {
  return Object.fromEntries(
    statuses.map((status) => {
      const description = errorDescriptions[status] ?? `Status ${status}`
      return [status, status === 304 ? { description } : { description, schema: ErrorBody }]
    }),
  )
}

const impliedByHeader: Record<string, number> = { 'if-none-match': 304, 'if-match': 409, 'idempotency-key': 409 }

/** Statuses that follow from what a route is, so that no route can forget them. */
function impliedStatuses(route: Route): number[] {
  const takesBody = route.body !== undefined || route.rawBody !== undefined
  const takesInput = takesBody || route.params !== undefined || route.query !== undefined || route.headers !== undefined
  const rules: [boolean, number[]][] = [
    [true, [403, 500, 503]],
    [route.auth !== 'none', [401, 429]],
    // A POST refuses an Idempotency-Key that it cannot keep.
    [takesInput || route.method === 'POST', [400]],
    [takesBody, [413]],
    [route.body !== undefined, [415]],
    [route.method === 'POST' || route.method === 'PUT', [507]],
  ]
  const headers = Object.keys(route.headers?.shape ?? {}).map((name) => impliedByHeader[name] ?? 400)
  return [...rules.flatMap(([applies, statuses]) => (applies ? statuses : [])), ...headers]
}

/** Makes a route; adds the error answers that follow from its shape. */
export function defineRoute<R extends Route>(route: R): R {
  const responses: Route['responses'] = { ...errorResponses(...impliedStatuses(route)), ...route.responses }
  return { ...route, responses }
}

/** What routes have in common; one that says otherwise, of parameters or query, has its own. */
export type RouteGroup = Pick<Route, 'tag' | 'params' | 'query'> & {
  /** Before the path of each. */
  base?: string
  /** Absent: `user`. */
  auth?: Auth
  /** What a right is needed on; absent: none is needed beyond being known. */
  kind?: AccessKind
}

type OwnPart = Omit<Route, 'method' | 'path' | 'tag' | 'family' | 'auth' | 'verb'> & { verb?: AccessVerb }

type Grouped<G extends RouteGroup, R extends OwnPart> = Omit<G, 'base' | 'auth' | 'kind' | keyof R> &
  Omit<R, 'verb'> &
  Pick<Route, 'method' | 'path' | 'verb'> & { auth: G['auth'] extends Auth ? G['auth'] : 'user' }

/**
 * Makes the routes of a group, each by its method and the right that usually goes with it; `verb` names another right.
 * `list` is a GET and `create` a POST; a `post` needs the right to update.
 */
export function routesOf<G extends RouteGroup>({ base = '', auth = 'user', kind, ...common }: G) {
  function by(method: Method, usual: AccessVerb) {
    return <R extends OwnPart>(path: string, { verb = usual, ...own }: R) => {
      const right = kind === undefined ? {} : { verb: { verb, kind } }
      const route: Route = { ...common, ...own, method, path: `${base}${path}`, auth, ...right }
      return defineRoute(route) as unknown as Grouped<G, R>
    }
  }
  return {
    list: by('GET', 'list'),
    get: by('GET', 'get'),
    create: by('POST', 'create'),
    post: by('POST', 'update'),
    put: by('PUT', 'update'),
    delete: by('DELETE', 'delete'),
  }
}

const documented = new WeakMap<z.ZodType, z.ZodType>()

/** Lets OpenAPI and clients see `shape` where `schema` reads (text to number, several accepted shapes to one). */
export function documentAs<S extends z.ZodType, D extends z.ZodType>(
  schema: S,
  shape: D,
): z.ZodType<z.output<S>, z.input<D>> {
  documented.set(schema, shape)
  return schema as unknown as z.ZodType<z.output<S>, z.input<D>>
}

/** What OpenAPI prints for a schema; one that was given a description is a copy of that which was documented. */
export function documentedShape(schema: z.ZodType): z.ZodType {
  const { parent } = schema._zod
  return documented.get(schema) ?? (parent && documented.get(parent as z.ZodType)) ?? schema
}

/** Path of the routes by which an attempt speaks of its task. */
export const WorkerTaskPath = z.object({
  namespace: field(Name, 'Namespace of the task.', 'default'),
  taskName: field(Name, 'Name of the task.', 'nightly-report'),
})

/** The routes by which an attempt speaks of its task. */
export const workerRoutes = routesOf({
  tag: 'Worker API',
  auth: 'worker',
  base: '/internal/v1',
  params: WorkerTaskPath,
})

/** Headers of reads. */
export const ReadHeaders = z.object({
  'if-none-match': field(
    limitedText(1024).optional(),
    'ETag of an earlier answer; 304 is answered when nothing has changed.',
    '"1042"',
  ),
})

/** Headers of PUT and DELETE: the ETag, that is the resourceVersion in quotes, which must still hold. */
export const WriteHeaders = z.object({
  'if-match': field(
    limitedText(1024).optional(),
    'ETag (the resourceVersion in quotes) that the stored object must have; otherwise 409.',
    '"1042"',
  ),
})

/** Headers of a POST that creates: the same key and body within 24 hours get the first outcome. */
export const CreateHeaders = z.object({
  'idempotency-key': field(
    limitedText(255)
      .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII without blanks')
      .optional(),
    "A word of the caller's choice: a repeated request with the same word and body within 24 hours gets the first answer.",
    'order-4711',
  ),
})

/** Headers of an event stream that is taken up again. */
export const StreamHeaders = z.object({
  'last-event-id': field(
    z
      .string()
      .regex(/^\d{1,15}$/, 'must be a number')
      .optional(),
    'Id of the last event that was received; the stream goes on after it.',
    '17',
  ),
})

type Parsed<S, Otherwise> = S extends z.ZodType ? z.output<S> : Otherwise
type InputOr<S, Otherwise> = S extends z.ZodType ? z.input<S> : Otherwise

/** What the server reads from a call. */
export type RouteParams<R extends Route> = Parsed<R['params'], Record<string, never>>
/** The query as the server reads it. */
export type RouteQuery<R extends Route> = Parsed<R['query'], Record<string, never>>
/** The headers as the server reads them. */
export type RouteHeaders<R extends Route> = Parsed<R['headers'], Record<string, never>>
/** The body as the server reads it. */
export type RouteBody<R extends Route> = Parsed<R['body'], undefined>
/** What a client gives. */
export type RouteBodyInput<R extends Route> = InputOr<R['body'], undefined>
/** The query as a client gives it. */
export type RouteQueryInput<R extends Route> = {
  [K in keyof InputOr<R['query'], Record<string, never>>]?: string | number | boolean | undefined
}

type SuccessStatus = 200 | 201 | 202
type SchemaOf<A> = A extends { schema: infer S extends z.ZodType } ? z.output<S> : never
type Responses<R extends Route> = R['responses']

/** The JSON that a route answers when all is well; undefined when it answers none. */
export type RouteAnswer<R extends Route> = [SchemaOf<Responses<R>[keyof Responses<R> & SuccessStatus]>] extends [never]
  ? undefined
  : SchemaOf<Responses<R>[keyof Responses<R> & SuccessStatus]>
