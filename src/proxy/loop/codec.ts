// The callers' languages behind one interface.

import type { z } from 'zod'
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
import type { AnswerEncoder, EncoderOptions, WholeAnswer } from '../../llm/messages/answer.ts'
import type { ModelRequest } from '../../llm/messages/messages.ts'
import { ResponsesRequest, toCompletion } from '../../llm/responses/decode-request.ts'
import * as responsesAnswer from '../../llm/responses/encode-answer.ts'
import type { ConversationEndpoint } from '../types.ts'

/** `session`: of the conversation, when it contains calls of the service's tools. */
export type ReadRequest = { request: ModelRequest; session?: string; includeUsage: boolean }

export type CallerCodec = {
  /** InvalidRequest names what is wrong. */
  read(body: JsonObject): ReadRequest
  createEncoder(options: EncoderOptions): AnswerEncoder
  encodeAnswer(answer: WholeAnswer, options: EncoderOptions): JsonObject
  /** Prefix of the ids of answers. */
  idPrefix: string
}

/** The most problems to list: a body may hold a hundred thousand blocks, each with the same mistake. */
const maxProblems = 50

/** Validates without changing the body: fields that are unknown here are for the upstream. */
function requireShape(schema: z.ZodType, body: JsonObject): void {
  const parsed = schema.safeParse(body)
  if (parsed.success) return
  const { issues } = parsed.error
  const details = issues.slice(0, maxProblems).map(({ path, message }) => ({ path: path.join('.'), message }))
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

function readLlmo(body: JsonObject): ReadRequest {
  requireShape(LlmoRequestBody, body)
  if (typeof body.n === 'number' && body.n > 1) {
    const advice = 'ask for one, or switch them off with the header X-Svc-Tools: disabled'
    throw new SvcError('InvalidRequest', `n: only one choice can be made while the service runs tools; ${advice}`)
  }
  const { messages, session } = restoreLlmo(body.messages as JsonObject[])
  const request = decodeLlmo({ ...body, messages } as unknown as LlmoRequestBody)
  const options = body.stream_options as { include_usage?: unknown } | null | undefined
  const includeUsage = options?.include_usage === true
  return { request, includeUsage, session }
}

/** A request of the responses API is a chat completion in another form. */
function readResponses(body: JsonObject): ReadRequest {
  requireShape(ResponsesRequest, body)
  return readLlmo(toCompletion(body as unknown as ResponsesRequest))
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
    idPrefix: 'resp_',
  },
}
