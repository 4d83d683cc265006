// The worker API: what a running attempt may do, with the token of that attempt.
import { z } from 'zod'
import { callFailures } from '../failures.ts'
import { Name, RecordName, Timestamp } from '../resources/metadata.ts'
import { booleanParameter, integerParameter } from './list.ts'
import { defineRoute, errorResponses } from './route.ts'
import { TranscriptMessage } from './sessions.ts'
import { PlanRecord } from './task-records.ts'
import { ArtifactName } from './tasks.ts'

const tag = 'Worker API'
const mebibyte = 1_048_576
const task = z.object({ namespace: Name, taskName: Name })

/** Bytes of a result, an artifact, a checkpoint. */
export const recordLimit = 10 * mebibyte

/** What is kept of the folder for artifacts: bytes of all files together, and entries that are looked at. */
export const artifactLimits = { bytes: 50 * mebibyte, entries: 1000 } as const

export const submitResult = defineRoute({
  method: 'POST',
  path: '/internal/v1/results/:namespace/:taskName',
  tag,
  summary: 'Submit the result of the task',
  params: task,
  rawBody: 'application/octet-stream',
  bodyLimit: recordLimit,
  responses: { ...errorResponses(404, 409, 501), 204: { description: 'Stored' } },
  auth: 'worker',
})

export const uploadArtifact = defineRoute({
  method: 'POST',
  path: '/internal/v1/artifacts/:namespace/:taskName/:filename',
  tag,
  summary: 'Upload an artifact; the same name overwrites',
  params: task.extend({ filename: ArtifactName }),
  rawBody: 'application/octet-stream',
  bodyLimit: recordLimit,
  responses: { ...errorResponses(404, 409, 501), 201: { description: 'Stored' } },
  auth: 'worker',
})

export const readTranscript = defineRoute({
  method: 'GET',
  path: '/internal/v1/sessions/:namespace/:name/transcript',
  tag,
  summary: 'Transcript of a session, one message a line; empty for an unknown session',
  params: z.object({ namespace: Name, name: RecordName }),
  query: z.object({ maxMessages: integerParameter({ min: 1, max: 100_000 }).optional() }),
  responses: { 200: { description: 'Messages, oldest first', contentType: 'application/x-ndjson' } },
  auth: 'worker',
})

export const TranscriptAppend = z
  .strictObject({
    messages: z.array(TranscriptMessage).min(1).max(1000),
    /**
     * The same word again by the same task appends nothing: a repeated call is harmless. Under `outcome` the service adds
     * prompt and outcome when the task ends, unless a worker has used that word.
     */
    dedupe: z.string().max(128).optional(),
  })
  .meta({ id: 'TranscriptAppend' })
export type TranscriptAppend = z.infer<typeof TranscriptAppend>

export const appendTranscript = defineRoute({
  method: 'POST',
  path: '/internal/v1/transcripts/:namespace/:taskName',
  tag,
  summary: "Append messages to the task's session",
  params: task,
  body: TranscriptAppend,
  responses: { ...errorResponses(404, 409), 204: { description: 'Appended' } },
  auth: 'worker',
})

export const PlanSave = z
  .object({
    summary: z.string(),
    progress_pct: z.int().min(0).max(100).default(0),
    goal_complete: z.boolean().default(false),
    plan_document: z.string(),
  })
  .meta({ id: 'PlanSave' })
export type PlanSave = z.infer<typeof PlanSave>

export const savePlan = defineRoute({
  method: 'POST',
  path: '/internal/v1/plans/:namespace/:taskName',
  tag,
  summary: 'Save the plan of the task',
  params: task,
  body: PlanSave,
  responses: { ...errorResponses(404, 409, 501), 204: { description: 'Saved' } },
  auth: 'worker',
})

export const readPlan = defineRoute({
  method: 'GET',
  path: '/internal/v1/plans/:namespace/:taskName',
  tag,
  summary: 'Plan of the task',
  params: task,
  responses: { ...errorResponses(404, 501), 200: { description: 'The plan', schema: PlanRecord } },
  auth: 'worker',
})

/** A message between siblings. */
export const AgentMessage = z
  .object({
    id: z.int().min(1),
    namespace: z.string(),
    fromTask: z.string(),
    /** `*`: all siblings. */
    toTask: z.string(),
    parentTask: z.string(),
    content: z.string(),
    read: z.boolean(),
    createdAt: Timestamp,
  })
  .meta({ id: 'AgentMessage' })
export type AgentMessage = z.infer<typeof AgentMessage>

export const MessageSend = z
  .object({
    fromTask: Name,
    toTask: z.union([Name, z.literal('*')]),
    parentTask: Name,
    content: z.string().min(1, 'must not be empty'),
  })
  .meta({ id: 'MessageSend' })
export type MessageSend = z.infer<typeof MessageSend>

export const sendMessage = defineRoute({
  method: 'POST',
  path: '/internal/v1/messages/:namespace',
  tag,
  summary: 'Send a message to a sibling, or to all with `*`',
  params: z.object({ namespace: Name }),
  body: MessageSend,
  responses: { ...errorResponses(404, 501), 204: { description: 'Sent' } },
  auth: 'worker',
})

export const readMessages = defineRoute({
  method: 'GET',
  path: '/internal/v1/messages/:namespace/:taskName',
  tag,
  summary: 'Unread messages of the task, oldest first',
  params: task,
  query: z.object({ parentTask: Name, markRead: booleanParameter(true) }),
  responses: { ...errorResponses(501), 200: { description: 'Messages', schema: z.array(AgentMessage) } },
  auth: 'worker',
})

export const appendLogs = defineRoute({
  method: 'POST',
  path: '/internal/v1/logs/:namespace/:taskName',
  tag,
  summary: 'Append to the logs of the task; the body is read as it comes',
  params: task,
  rawBody: 'text/plain',
  bodyLimit: 1024 * mebibyte,
  responses: { ...errorResponses(404, 409), 204: { description: 'Appended' } },
  auth: 'worker',
})

/** The saved state of a run; only the worker understands it. */
export const Checkpoint = z.unknown().meta({ id: 'Checkpoint', description: 'Any JSON' })

export const saveCheckpoint = defineRoute({
  method: 'PUT',
  path: '/internal/v1/checkpoints/:namespace/:taskName',
  tag,
  summary: 'Save the state of the run; replaces the one before',
  params: task,
  body: Checkpoint,
  bodyLimit: recordLimit,
  responses: { ...errorResponses(404, 409), 204: { description: 'Saved' } },
  auth: 'worker',
})

/** What has changed since the whole state was saved; only the worker understands it. */
export const CheckpointChange = z.unknown().meta({ id: 'CheckpointChange', description: 'Any JSON' })

export const appendCheckpoint = defineRoute({
  method: 'POST',
  path: '/internal/v1/checkpoints/:namespace/:taskName',
  tag,
  summary: 'Add a change to the state that this attempt saved; a number that is there already is ignored',
  params: task,
  query: z.object({ number: integerParameter({ min: 1, max: 1_000_000 }) }),
  body: CheckpointChange,
  bodyLimit: mebibyte,
  responses: { ...errorResponses(404, 409), 204: { description: 'Added' } },
  auth: 'worker',
})

export const readCheckpoint = defineRoute({
  method: 'GET',
  path: '/internal/v1/checkpoints/:namespace/:taskName',
  tag,
  summary: 'The newest saved state of the task, of whichever attempt',
  params: task,
  responses: {
    ...errorResponses(404),
    200: { description: 'A list: the state as it was saved, then the changes in order', schema: z.array(Checkpoint) },
  },
  auth: 'worker',
})

/** No call has more: sums must stay whole numbers. */
const tokens = z.int().min(0).max(1e12)

export const UsageSubmit = z
  .strictObject({
    /** A second record with the same id is ignored: a repeated call is harmless. */
    id: z.string().min(1).max(128),
    provider: z.strictObject({ namespace: Name, name: Name }),
    model: z.string().max(256),
    inputTokens: tokens,
    outputTokens: tokens,
    cachedTokens: tokens.default(0),
    /** What the vendor did not count, of a call that broke off or was answered without counts. */
    estimatedInputTokens: tokens.default(0),
    estimatedOutputTokens: tokens.default(0),
    /** The demo provider is no language model (PROV-014). */
    demo: z.boolean().default(false),
    /** There was no whole answer: the tokens count, but the provider has not answered. */
    brokeOff: z.boolean().default(false),
  })
  .meta({ id: 'UsageSubmit' })
export type UsageSubmit = z.infer<typeof UsageSubmit>

export const submitUsage = defineRoute({
  method: 'POST',
  path: '/internal/v1/usage/:namespace/:taskName',
  tag,
  summary: 'Record one model call; cost follows from the price of the provider',
  params: task,
  body: UsageSubmit,
  responses: { ...errorResponses(404, 409), 204: { description: 'Recorded' } },
  auth: 'worker',
})

/** `token` goes out as the header `Txn-Token` of one call. */
export const ToolToken = z
  .object({ token: z.string(), expiresAt: Timestamp.optional() })
  .meta({ id: 'ToolToken', description: 'A secret: never logged' })
export type ToolToken = z.infer<typeof ToolToken>

export const takeToolToken = defineRoute({
  method: 'POST',
  path: '/internal/v1/tool-tokens/:namespace/:taskName/:tool',
  tag,
  summary: 'Exchange a transaction token for one call of a custom tool of the task',
  params: task.extend({ tool: Name }),
  responses: { ...errorResponses(404, 501, 502), 200: { description: 'The token', schema: ToolToken } },
  auth: 'worker',
})

const provider = z.object({ namespace: Name, provider: Name })

/**
 * With requests it asks for them and for the tokens; of these at most a minute's worth is taken. Without requests it
 * corrects an earlier lease, as its true number of tokens is known: it is always granted, and negative tokens are given
 * back. All zero only asks how the provider is.
 */
export const LeaseRequest = z
  .strictObject({
    requests: z.int().min(0),
    tokens: z.int(),
    /** Whose limit: the agent's of the task stands in the place of the provider. Absent: the provider's. */
    kind: z.literal('Agent').optional(),
    /** Of which cool-downs are told; absent: of those of all its models. */
    model: z.string().min(1).max(256).optional(),
  })
  .refine(({ requests, tokens }) => requests === 0 || tokens >= 0, {
    path: ['tokens'],
    message: 'must not be negative with requests: tokens are given back without any',
  })
  .meta({ id: 'LeaseRequest' })
export type LeaseRequest = z.infer<typeof LeaseRequest>

export const LeaseAnswer = z
  .object({
    granted: z.boolean(),
    /** How long to wait before asking again; 0 when granted. */
    retryAfterMs: z.number().min(0),
    /** Tokens that were taken; negative when they were given back. */
    tokens: z.int(),
    /** Present while nothing is to be sent to the provider: for how long yet, and what the vendor said. */
    coolingDown: z
      .object({ forMs: z.number().min(0), reason: z.string(), failure: z.enum(callFailures), asked: z.boolean() })
      .optional(),
  })
  .meta({ id: 'Lease' })
export type LeaseAnswer = z.infer<typeof LeaseAnswer>

export const takeLease = defineRoute({
  method: 'POST',
  path: '/internal/v1/leases/:namespace/:provider',
  tag,
  summary: 'Take requests and tokens from the rate limit of a provider, or correct what was taken',
  params: provider,
  body: LeaseRequest,
  responses: { ...errorResponses(404), 200: { description: 'Granted or not', schema: LeaseAnswer } },
  auth: 'worker',
})

export const CooldownRequest = z
  .strictObject({
    seconds: z.number().min(0).max(86_400),
    reason: z.string().max(1024),
    /** The one model it is about; absent: all that the provider serves. */
    model: z.string().min(1).max(256).optional(),
    failure: z.enum(callFailures).default('RateLimited'),
    /** The vendor named the time. */
    asked: z.boolean().default(false),
  })
  .meta({ id: 'CooldownRequest' })
export type CooldownRequest = z.infer<typeof CooldownRequest>

export const coolDown = defineRoute({
  method: 'POST',
  path: '/internal/v1/cooldowns/:namespace/:provider',
  tag,
  summary: 'Say that a provider refuses calls for a while',
  params: provider,
  body: CooldownRequest,
  responses: { ...errorResponses(404), 204: { description: 'Noted' } },
  auth: 'worker',
})

/** Of one report. */
export const mostFailures = 10_000

/**
 * What became of the calls of a provider since the last report. Successes need no report of their own: usage tells of
 * them. It is due when calls begin to fail, when one is answered again, and now and then while they go on failing.
 */
export const CallsReport = z
  .strictObject({
    /** One was answered. */
    answered: z.boolean().default(false),
    /** How many failed since, or at all when none was answered. */
    failures: z.int().min(0).max(mostFailures).default(0),
    /** Why the last of them failed, without secrets. */
    reason: z.string().min(1).max(1024).optional(),
  })
  .refine(({ failures, reason }) => failures > 0 === (reason !== undefined), {
    path: ['reason'],
    message: 'must be there when calls failed, and only then',
  })
  .meta({ id: 'CallsReport' })
export type CallsReport = z.infer<typeof CallsReport>

export const reportCalls = defineRoute({
  method: 'POST',
  path: '/internal/v1/provider-calls/:namespace/:provider',
  tag,
  summary: 'Say how calls of a provider ended',
  params: provider,
  body: CallsReport,
  responses: { ...errorResponses(404), 204: { description: 'Noted' } },
  auth: 'worker',
})
