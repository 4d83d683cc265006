// The proxies: two vendors' APIs as their clients know them. Bodies are the vendors' own; only the fields that the service reads are described.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { NamespaceQuery } from '../resources/list.ts'
import type { Route, RouteResponse } from '../resources/route.ts'

/** A request of family llma; fields that are not listed are passed on unchanged (HTTP-017). */
export const LlmaRequest = z
  .looseObject({
    model: field(
      z.string().nullish(),
      "`provider/model`, or a model of the default provider. Without it, or null: the provider's default model.",
      'main/model-1',
    ),
    messages: field(
      z.array(z.looseObject({ role: field(z.string(), 'Who speaks.', 'user') })),
      'The conversation so far.',
    ),
    max_tokens: field(z.int().optional(), 'Output tokens at most.', 1024),
    stream: field(z.boolean().nullish(), 'Stream the answer as events. Null is the default, false.', true),
  })
  .meta({ id: 'LlmaRequest' })

/** A chat completion; fields that are not listed are passed on unchanged. */
export const LlmoRequest = z
  .looseObject({
    model: field(
      z.string().nullish(),
      "`provider/model`, or a model of the default provider. Without it, or null: the provider's default model.",
      'main/large-model',
    ),
    messages: field(
      z.array(z.looseObject({ role: field(z.string(), 'Who speaks.', 'user') })),
      'The conversation so far.',
    ),
    stream: field(z.boolean().nullish(), 'Stream the answer as events. Null is the default, false.', true),
  })
  .meta({ id: 'LlmoRequest' })

/** A request that is passed through unchanged. */
export const PassedRequest = z
  .looseObject({
    model: field(z.string().nullish(), '`provider/model`, or a model of the default provider.', 'main/large-model'),
  })
  .meta({ id: 'PassedRequest' })

const PassedAnswer = z.looseObject({}).meta({ id: 'PassedAnswer' })

/** An error in the form of the llma family. */
export const LlmaError = z
  .object({
    type: field(z.literal('error'), 'Always `error`.'),
    error: field(
      z.looseObject({
        type: field(z.string(), 'Sort of error.', 'invalid_request_error'),
        message: field(z.string(), 'What is wrong.', 'messages: is required'),
      }),
      'What went wrong.',
    ),
    request_id: field(
      z.string().optional(),
      'Id of the request, to look for in the logs.',
      '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10',
    ),
  })
  .meta({ id: 'LlmaError' })

/** An error in the form of the llmo family. */
export const LlmoError = z
  .object({
    error: field(
      z.looseObject({
        message: field(z.string(), 'What is wrong.', 'messages: is required'),
        type: field(z.string(), 'Sort of error.', 'invalid_request_error'),
        param: field(z.string().nullable(), 'Parameter that is wrong.', 'messages'),
        code: field(z.string().nullable(), 'Code of the error.', 'rate_limit_exceeded'),
      }),
      'What went wrong.',
    ),
  })
  .meta({ id: 'LlmoError' })

/** A model in the form of the llma family. */
export const LlmaModel = z
  .object({
    type: field(z.literal('model'), 'Always `model`.'),
    id: field(z.string(), 'Id to name in a request.', 'main/model-1'),
    display_name: field(z.string(), 'Name for people.', 'model-1'),
    created_at: field(z.string(), 'When the model was published, where it is known.', '2030-01-01T00:00:00Z'),
  })
  .meta({ id: 'LlmaModel' })

/** Models in the form of the llma family. */
export const LlmaModels = z
  .object({
    data: field(z.array(LlmaModel), 'The models, in order of their ids.'),
    has_more: field(z.boolean(), 'Whether there are more; always false.'),
    first_id: field(z.string().nullable(), 'Id of the first model.', 'main/model-1'),
    last_id: field(z.string().nullable(), 'Id of the last model.', 'main/model-9'),
  })
  .meta({ id: 'LlmaModels' })

/** What is left of a response that was deleted. */
export const DeletedResponse = z
  .object({
    id: field(z.string(), 'Id of the response.', 'resp_0123456789abcdef'),
    object: field(z.literal('response'), 'Always `response`.'),
    deleted: field(z.literal(true), 'Always true.'),
  })
  .meta({ id: 'DeletedResponse' })

/** A model in the form of the llmo family. */
export const LlmoModel = z
  .object({
    id: field(z.string(), 'Id to name in a request.', 'main/large-model'),
    object: field(z.literal('model'), 'Always `model`.'),
    created: field(z.int(), 'When the model was published, in seconds since 1970; 0 where it is not known.', 0),
    owned_by: field(z.string(), 'Provider of the model.', 'main'),
  })
  .meta({ id: 'LlmoModel' })

/** Models in the form of the llmo family. */
export const LlmoModels = z
  .object({
    object: field(z.literal('list'), 'Always `list`.'),
    data: field(z.array(LlmoModel), 'The models, in order of their ids.'),
  })
  .meta({ id: 'LlmoModels' })

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
  'x-svc-tools': field(
    z.string().optional(),
    "`disabled` leaves out the tools of the service: a request of the provider's own family is passed on byte for byte.",
    'disabled',
  ),
})
const llmaHeaders = headers.extend({
  'llma-version': field(
    z.string().optional(),
    "Version of the vendor's interface; `anthropic-version` means the same.",
    '2023-06-01',
  ),
})

type Family = 'llma' | 'llmo'

type CallWords = { summary: string; description: string }

function defineCall<P extends string>(family: Family, path: P, words: CallWords, body: z.ZodType) {
  const isLlma = family === 'llma'
  return {
    method: 'POST',
    path,
    family,
    tag: isLlma ? 'llma' : 'llmo',
    ...words,
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
    description: 'Lists the models that the providers of the namespace offer, with ids that a request can name.',
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
    description: 'Answers one of the models that the list shows.',
    params: z.object({ model: field(z.string(), 'Id of the model.', 'main/large-model') }),
    query: NamespaceQuery,
    responses: { 200: { description: 'The model', schema }, ...failures(error, readStatuses) },
    auth: 'user',
    verb: { verb: 'list', kind: 'Provider' },
  } as const satisfies Route
}

function defineResponse<M extends 'GET' | 'DELETE'>(method: M, words: CallWords, schema: z.ZodType) {
  return {
    method,
    path: '/llmo/v1/responses/:id',
    family: 'llmo',
    tag: 'llmo',
    ...words,
    params: z.object({ id: field(z.string(), 'Id of the response.', 'resp_0123456789abcdef') }),
    query: NamespaceQuery,
    responses: { 200: { description: 'The response', schema }, ...failures(LlmoError, readStatuses) },
    auth: 'user',
    verb: { verb: 'use', kind: 'Provider' },
  } as const satisfies Route
}

export const createLlmaMessage = defineCall(
  'llma',
  '/llma/v1/messages',
  {
    summary: 'Create a message',
    description:
      'Sends the request to the provider that the model names. Unless `x-svc-tools: disabled` is sent, the model may also call tools of the service.',
  },
  LlmaRequest,
)
export const countLlmaTokens = defineCall(
  'llma',
  '/llma/v1/messages/count_tokens',
  {
    summary: 'Count the tokens of a message',
    description:
      'Counts the tokens of a request without sending it to a model. Where the vendor does not count them, the answer is an estimate, with the header `x-svc-estimated: input_tokens`.',
  },
  PassedRequest,
)
export const createLlmoCompletion = defineCall(
  'llmo',
  '/llmo/v1/chat/completions',
  {
    summary: 'Create a chat completion',
    description:
      'Sends the request to the provider that the model names. Unless `x-svc-tools: disabled` is sent, the model may also call tools of the service.',
  },
  LlmoRequest,
)
export const createLlmoEmbeddings = defineCall(
  'llmo',
  '/llmo/v1/embeddings',
  { summary: 'Create embeddings', description: 'Passes the request on to the provider that the model names.' },
  PassedRequest,
)
export const createLlmoResponse = defineCall(
  'llmo',
  '/llmo/v1/responses',
  {
    summary: 'Create a response',
    description: 'Sends the request to the provider that the model names, in the form of the Responses interface.',
  },
  PassedRequest,
)
export const getLlmoResponse = defineResponse(
  'GET',
  {
    summary: 'A response that was stored',
    description:
      'Answers a response that this service made and stored for the caller. Those that a vendor stored are not known here.',
  },
  PassedAnswer,
)
export const deleteLlmoResponse = defineResponse(
  'DELETE',
  {
    summary: 'Delete a stored response',
    description:
      "Deletes one of the caller's stored responses. No request goes on from it then, nor from those after it.",
  },
  DeletedResponse,
)
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
  /** The route of a single model, whose id is the rest of the path. */
  | 'model'
  | 'stored_response'
  | 'deleted_response'

/** What a path answers, by method. */
export type ProxyMethods = Partial<Record<'GET' | 'POST' | 'DELETE', ProxyEndpoint>>

/** The methods of each path of the proxies. */
export const proxyEndpoints: ReadonlyMap<string, ProxyMethods> = new Map<string, ProxyMethods>([
  [createLlmaMessage.path, { POST: 'messages' }],
  [countLlmaTokens.path, { POST: 'count_tokens' }],
  [createLlmoCompletion.path, { POST: 'chat' }],
  [createLlmoEmbeddings.path, { POST: 'embeddings' }],
  [createLlmoResponse.path, { POST: 'responses' }],
  [getLlmoResponse.path, { GET: 'stored_response', DELETE: 'deleted_response' }],
  [listLlmaModels.path, { GET: 'models' }],
  [listLlmoModels.path, { GET: 'models' }],
  [getLlmaModel.path, { GET: 'model' }],
  [getLlmoModel.path, { GET: 'model' }],
])
