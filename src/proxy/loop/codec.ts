// The callers' languages behind one interface.
import type { z } from 'zod'
import { describeIssue, explainIssue } from '../../contract/schema/validation.ts'
import { SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { decodeRequest as decodeLlma } from '../../llm/llma/decode-request.ts'
import * as llmaAnswer from '../../llm/llma/encode-answer.ts'
import { restoreMessages as restoreLlma } from '../../llm/llma/restore.ts'
import { LlmaRequestBody } from '../../llm/llma/schema.ts'
import { decodeRequest as decodeLlmo } from '../../llm/llmo/decode-request.ts'
import * as llmoAnswer from '../../llm/llmo/encode-answer.ts'
import { restoreMessages as restoreLlmo } from '../../llm/llmo/restore.ts'
import { LlmoRequestBody } from '../../llm/llmo/schema.ts'
import type { AnswerEncoder, WholeAnswer } from '../../llm/messages/answer.ts'
import type { LeftOutFields } from '../../llm/messages/crossing.ts'
import type { ModelRequest } from '../../llm/messages/messages.ts'
import { type Completion, ResponsesRequest, toCompletion } from '../../llm/responses/decode-request.ts'
import type { ResponseOptions } from '../../llm/responses/encode-answer.ts'
import * as responsesAnswer from '../../llm/responses/encode-answer.ts'
import { responseMark } from '../../llm/responses/item-stream.ts'
import { giveThoughts } from '../../llm/responses/items.ts'
import { StoredAtVendor } from '../../llm/responses/problems.ts'
import type { ConversationEndpoint } from '../types.ts'

/** `session`: of the conversation, when it contains calls of the service's tools. */
export type ReadRequest = {
  request: ModelRequest
  session?: string
  includeUsage: boolean
  /** What the answer is written with, of a response. */
  asked?: ResponseOptions['asked']
  /** What the model is not given of the request. */
  leftOut?: LeftOutFields[]
}

/** `canPass`: without the service's tools the request would go to its provider as it is. */
export type ReadOptions = { canPass: boolean }

export type CallerCodec = {
  /** InvalidRequest names what is wrong. */
  read(body: JsonObject, options: ReadOptions): ReadRequest
  createEncoder(options: ResponseOptions): AnswerEncoder
  encodeAnswer(answer: WholeAnswer, options: ResponseOptions): JsonObject
  /** Prefix of the ids of answers. */
  idPrefix: string
}

/** The most problems to list: a body may hold a hundred thousand blocks, each with the same mistake. */
const maxProblems = 50

/** Validates without changing the body: fields that are unknown here are for the upstream. */
function requireShape(schema: z.ZodType, body: JsonObject): void {
  const parsed = schema.safeParse(body, { error: describeIssue })
  if (parsed.success) return
  const { issues } = parsed.error
  const details = issues
    .slice(0, maxProblems)
    .map((issue) => ({ path: issue.path.join('.'), message: explainIssue(issue) }))
  const problems = details.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`))
  if (issues.length > maxProblems) problems.push(`and ${issues.length - maxProblems} more`)
  throw new SvcError('InvalidRequest', problems.join('; '), { details })
}

function readLlma(body: JsonObject): ReadRequest {
  requireShape(LlmaRequestBody, body)
  const { messages, session } = restoreLlma(body.messages as JsonObject[])
  const request = decodeLlma({ ...body, messages } as unknown as LlmaRequestBody)
  return { request, includeUsage: false, session }
}

function refuseChoices({ canPass }: ReadOptions): never {
  const message = canPass
    ? 'only one choice can be made while the service runs tools; ask for one, or switch them off with the header X-Svc-Tools: disabled'
    : 'only one choice can be made of a request that is translated; ask for one, or use a provider of type llmo'
  throw new SvcError('InvalidRequest', `n: ${message}`)
}

function readLlmo(body: JsonObject, options: ReadOptions): ReadRequest {
  requireShape(LlmoRequestBody, body)
  if (typeof body.n === 'number' && body.n > 1) refuseChoices(options)
  const { messages, session } = restoreLlmo(body.messages as JsonObject[])
  const request = decodeLlmo({ ...body, messages } as unknown as LlmoRequestBody)
  const streaming = body.stream_options as { include_usage?: unknown } | null | undefined
  const includeUsage = streaming?.include_usage === true
  return { request, includeUsage, session }
}

/** The limit under the name that the vendor knows: the caller named none of a completion. */
function withoutLimit({ raw, ...request }: ModelRequest): ModelRequest {
  if (raw === undefined) return request
  const { max_completion_tokens: _limit, ...json } = raw.json
  return { ...request, raw: { ...raw, json } }
}

function translate(asked: ResponsesRequest, { canPass }: ReadOptions): Completion {
  try {
    return toCompletion(asked)
  } catch (error) {
    if (!(error instanceof StoredAtVendor) || !canPass) throw error
    const advice = 'or send the request to the provider as it is, with the header X-Svc-Tools: disabled'
    throw new SvcError('InvalidRequest', `${error.message}; ${advice}`, { cause: error })
  }
}

/** A request of the responses API is a chat completion in another form. */
function readResponses(body: JsonObject, options: ReadOptions): ReadRequest {
  requireShape(ResponsesRequest, body)
  const asked = body as unknown as ResponsesRequest
  const { body: completion, names, leftOut } = translate(asked, options)
  const { request, ...read } = readLlmo(completion, options)
  const messages = request.messages.map(giveThoughts)
  return { ...read, request: withoutLimit({ ...request, messages }), asked: { request: asked, names }, leftOut }
}

export const codecs: Record<ConversationEndpoint, CallerCodec> = {
  messages: {
    read: readLlma,
    createEncoder: llmaAnswer.createAnswerEncoder,
    encodeAnswer: llmaAnswer.encodeAnswer,
    idPrefix: 'msg_',
  },
  chat: {
    read: readLlmo,
    createEncoder: llmoAnswer.createAnswerEncoder,
    encodeAnswer: llmoAnswer.encodeAnswer,
    idPrefix: 'chatcmpl-',
  },
  responses: {
    read: readResponses,
    createEncoder: responsesAnswer.createAnswerEncoder,
    encodeAnswer: responsesAnswer.encodeAnswer,
    idPrefix: responseMark,
  },
}
