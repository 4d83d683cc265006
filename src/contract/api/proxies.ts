// The proxies: two vendors' APIs as their clients know them. Bodies are the vendors' own; only what the service reads is told.
import { z } from 'zod'
import { NamespaceQuery } from './list.ts'
import type { Route, RouteResponse } from './route.ts'

/** A request of family llma; fields that are not named go upstream as they are (HTTP-017). */
export const LlmaRequest = z
  .looseObject({
    /** `provider/model`, or `model` of the default provider. Absent: the provider's default model. */
    model: z.string().optional(),
    messages: z.array(z.looseObject({ role: z.string() })),
    max_tokens: z.int().optional(),
    stream: z.boolean().optional(),
  })
  .meta({ id: 'LlmaRequest' })

export const LlmoRequest = z
  .looseObject({
    /** As for llma. */
    model: z.string().optional(),
    messages: z.array(z.looseObject({ role: z.string() })),
    stream: z.boolean().optional(),
  })
  .meta({ id: 'LlmoRequest' })

/** A request that is passed through whole. */
export const PassedRequest = z.looseObject({ model: z.string().optional() }).meta({ id: 'PassedRequest' })

const PassedAnswer = z.looseObject({}).meta({ id: 'PassedAnswer' })

export const LlmaError = z
  .object({
    type: z.literal('error'),
    error: z.looseObject({ type: z.string(), message: z.string() }),
    request_id: z.string().optional(),
  })
  .meta({ id: 'LlmaError' })

export const LlmoError = z
  .object({
    error: z.looseObject({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string().nullable(),
    }),
  })
  .meta({ id: 'LlmoError' })

export const LlmaModel = z
  .object({ type: z.literal('model'), id: z.string(), display_name: z.string(), created_at: z.string() })
  .meta({ id: 'LlmaModel' })

export const LlmaModels = z
  .object({
    data: z.array(LlmaModel),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  })
  .meta({ id: 'LlmaModels' })

export const LlmoModel = z
  .object({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() })
  .meta({ id: 'LlmoModel' })

export const LlmoModels = z.object({ object: z.literal('list'), data: z.array(LlmoModel) }).meta({ id: 'LlmoModels' })

const meanings: Record<number, string> = {
  400: 'The request is wrong, or the vendor says so',
  401: 'No credential for this service, or a bad one',
  403: 'Not allowed by this service',
  404: 'No such provider or model',
  413: 'Too large, for this service or for the vendor',
  415: 'The body is not JSON',
  429: 'Too many requests, by the limits of this service or of the vendor; see Retry-After',
  500: 'A fault of the service or of the vendor',
  502: "The vendor refused the provider's credential, or could not be reached",
  503: 'Something needed is away; see Retry-After',
  529: 'The vendor is overloaded; see Retry-After',
}

function failures(schema: z.ZodType, statuses: readonly number[]): Record<number, RouteResponse> {
  return Object.fromEntries(statuses.map((status) => [status, { description: meanings[status] ?? '', schema }]))
}

const callStatuses = [400, 401, 403, 404, 413, 415, 429, 500, 502, 503, 529]
const listStatuses = [400, 401, 403, 429, 500, 503]
const readStatuses = [...listStatuses, 404]

const headers = z.object({
  /** `disabled`: the service's own tools stay out, and requests of the provider's family are passed on byte for byte. */
  'x-svc-tools': z.string().optional(),
})
const llmaHeaders = headers.extend({
  /** Date of the vendor's interface; `anthropic-version` is the same. */
  'llma-version': z.string().optional(),
})

type Family = 'llma' | 'llmo'

function defineCall<P extends string>(family: Family, path: P, summary: string, body: z.ZodType) {
  const isLlma = family === 'llma'
  return {
    method: 'POST',
    path,
    family,
    tag: isLlma ? 'llma' : 'llmo',
    summary,
    query: NamespaceQuery,
    headers: isLlma ? llmaHeaders : headers,
    body,
    responses: {
      200: { description: "The vendor's answer", schema: PassedAnswer },
      ...failures(isLlma ? LlmaError : LlmoError, callStatuses),
    },
    auth: 'user',
    verb: { verb: 'use', kind: 'Provider' },
    stream: 'sse',
  } as const satisfies Route
}

function defineModels<P extends string>(family: Family, path: P, schema: z.ZodType, error: z.ZodType) {
  return {
    method: 'GET',
    path,
    family,
    tag: family,
    summary: 'Models of the configured providers',
    query: NamespaceQuery,
    responses: { 200: { description: 'Models', schema }, ...failures(error, listStatuses) },
    auth: 'user',
    verb: { verb: 'list', kind: 'Provider' },
  } as const satisfies Route
}

function defineModel<P extends string>(family: Family, path: P, schema: z.ZodType, error: z.ZodType) {
  return {
    method: 'GET',
    path,
    family,
    tag: family,
    summary: 'One model by its id, such as provider/model',
    params: z.object({ model: z.string() }),
    query: NamespaceQuery,
    responses: { 200: { description: 'The model', schema }, ...failures(error, readStatuses) },
    auth: 'user',
    verb: { verb: 'list', kind: 'Provider' },
  } as const satisfies Route
}

export const createLlmaMessage = defineCall('llma', '/llma/v1/messages', 'Create a message', LlmaRequest)
export const countLlmaTokens = defineCall(
  'llma',
  '/llma/v1/messages/count_tokens',
  'Count the tokens of a message',
  PassedRequest,
)
export const createLlmoCompletion = defineCall(
  'llmo',
  '/llmo/v1/chat/completions',
  'Create a chat completion',
  LlmoRequest,
)
export const createLlmoEmbeddings = defineCall('llmo', '/llmo/v1/embeddings', 'Create embeddings', PassedRequest)
export const createLlmoResponse = defineCall('llmo', '/llmo/v1/responses', 'Create a response', PassedRequest)
export const listLlmaModels = defineModels('llma', '/llma/v1/models', LlmaModels, LlmaError)
export const listLlmoModels = defineModels('llmo', '/llmo/v1/models', LlmoModels, LlmoError)
export const getLlmaModel = defineModel('llma', '/llma/v1/models/:model', LlmaModel, LlmaError)
export const getLlmoModel = defineModel('llmo', '/llmo/v1/models/:model', LlmoModel, LlmoError)

type ProxyEndpoint =
  | 'messages'
  | 'count_tokens'
  | 'chat'
  | 'embeddings'
  | 'responses'
  | 'models'
  /** One of them, by the rest of the path. */
  | 'model'

/** Path to method and word of each route of the proxies. */
export const proxyEndpoints = new Map([
  [createLlmaMessage.path, { method: 'POST', endpoint: 'messages' }],
  [countLlmaTokens.path, { method: 'POST', endpoint: 'count_tokens' }],
  [createLlmoCompletion.path, { method: 'POST', endpoint: 'chat' }],
  [createLlmoEmbeddings.path, { method: 'POST', endpoint: 'embeddings' }],
  [createLlmoResponse.path, { method: 'POST', endpoint: 'responses' }],
  [listLlmaModels.path, { method: 'GET', endpoint: 'models' }],
  [listLlmoModels.path, { method: 'GET', endpoint: 'models' }],
  [getLlmaModel.path, { method: 'GET', endpoint: 'model' }],
  [getLlmoModel.path, { method: 'GET', endpoint: 'model' }],
] as const) as ReadonlyMap<string, { method: 'GET' | 'POST'; endpoint: ProxyEndpoint }>
