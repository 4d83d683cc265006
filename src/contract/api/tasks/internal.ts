// The worker API: what a running attempt may do, with the token of that attempt.
import { z } from 'zod'
import { Name, RecordName, Timestamp } from '../../kinds/resources/metadata.ts'
import { callFailures } from '../../kinds/tasks/failures.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { TranscriptMessage } from '../chat/sessions.ts'
import { booleanParameter, integerParameter } from '../resources/list.ts'
import { errorResponses, routesOf, WorkerTaskPath, workerRoutes } from '../resources/route.ts'
import { AgentMessage, ArtifactPath, PlanRecord, planLimits } from './task-records.ts'

const mebibyte = 1_048_576

/** Largest result, artifact and checkpoint in bytes. */
export const recordLimit = 10 * mebibyte

/**
 * Limits of the files that a task leaves: the bytes of all kept files, and how many entries are examined in the folder for
 * artifacts and in the whole workspace.
 */
export const artifactLimits = { bytes: 50 * mebibyte, entries: 1000, workspaceEntries: 10_000 } as const

/** Limits of the input files of a task: bytes of one file, bytes of all files, and their number. */
export const inputLimits = { fileBytes: recordLimit, bytes: 50 * mebibyte, files: 1000 } as const

/** An artifact of a task with input files: it lists the changes that are not files, such as removals. */
export const workspaceChangesName = '.svc-changes.json'
/** The changes in the workspace of a task that are not files. */
export const WorkspaceChanges = z
  .object({
    removed: field(z.array(z.string()), 'Paths of files that it was given and that are gone.', ['old.txt']),
  })
  .meta({ id: 'WorkspaceChanges' })
export type WorkspaceChanges = z.infer<typeof WorkspaceChanges>

export const readInput = workerRoutes.get('/inputs/:namespace/:taskName/:filename', {
  summary: 'A file that the task was given',
  description: 'Answers the bytes of one of the files that the task was given before it started.',
  params: WorkerTaskPath.extend({ filename: field(ArtifactPath, 'Path of the file in the workspace.', 'src/main.py') }),
  responses: { ...errorResponses(404), 200: { description: 'The file', contentType: 'application/octet-stream' } },
})

export const submitResult = workerRoutes.post('/results/:namespace/:taskName', {
  summary: 'Submit the result of the task',
  description: 'Stores the result of the task; a later one replaces it.',
  rawBody: 'application/octet-stream',
  bodyLimit: recordLimit,
  responses: { ...errorResponses(404, 409, 501), 204: { description: 'Stored' } },
})

export const uploadArtifact = workerRoutes.post('/artifacts/:namespace/:taskName/:filename', {
  summary: 'Upload an artifact; the same name overwrites',
  description: 'Stores a file of the task. A file of the same name is replaced.',
  params: WorkerTaskPath.extend({ filename: field(ArtifactPath, 'Path of the file in the workspace.', 'src/main.py') }),
  rawBody: 'application/octet-stream',
  bodyLimit: recordLimit,
  responses: { ...errorResponses(404, 409, 501), 201: { description: 'Stored' } },
})

export const readTranscript = workerRoutes.get('/sessions/:namespace/:name/transcript', {
  summary: 'Transcript of a session, one message a line; empty for an unknown session',
  description:
    'Answers the messages of a session as JSON, one on each line, oldest first; nothing for a session that does not exist.',
  params: z.object({
    namespace: field(Name, 'Namespace of the session.', 'default'),
    name: field(RecordName, 'Name of the session.', 'support-42'),
  }),
  query: z.object({
    maxMessages: field(
      integerParameter({ min: 1, max: 100_000 }).optional(),
      'Only this many of the newest messages. Without it: all.',
      50,
    ),
  }),
  responses: { 200: { description: 'Messages, oldest first', contentType: 'application/x-ndjson' } },
})

/** Messages for the session of the task. */
export const TranscriptAppend = z
  .strictObject({
    messages: field(z.array(TranscriptMessage).min(1).max(1000), 'Messages to append, in this order.'),
    dedupe: field(
      limitedText(128).optional(),
      'A repeated request of the same task with the same word appends nothing. With `outcome`, the service does not append prompt and result itself when the task ends.',
      'turn-1',
    ),
  })
  .meta({ id: 'TranscriptAppend' })
export type TranscriptAppend = z.infer<typeof TranscriptAppend>

export const appendTranscript = workerRoutes.post('/transcripts/:namespace/:taskName', {
  summary: "Append messages to the task's session",
  description: 'Appends messages to the session that the task continues.',
  body: TranscriptAppend,
  responses: { ...errorResponses(404, 409), 204: { description: 'Appended' } },
})

/** The plan of one iteration. */
export const PlanSave = z
  .object({
    summary: field(limitedText(planLimits.summary), 'What was done, in one sentence.', 'two of three pages read'),
    progress_pct: field(z.int().min(0).max(100).default(0), 'Progress in percent.', 60),
    goal_complete: field(z.boolean().default(false), 'Whether the goal is reached.'),
    plan_document: field(limitedText(planLimits.document), 'The plan in Markdown.', '- [x] read the pages'),
  })
  .meta({ id: 'PlanSave' })
export type PlanSave = z.infer<typeof PlanSave>

export const savePlan = workerRoutes.post('/plans/:namespace/:taskName', {
  summary: 'Save the plan of the task',
  description:
    'Stores the plan of the present iteration; a later one replaces it, and the history of the task keeps both.',
  body: PlanSave,
  responses: { ...errorResponses(404, 409, 501), 204: { description: 'Saved' } },
})

export const readPlan = workerRoutes.get('/plans/:namespace/:taskName', {
  summary: 'Plan of the task',
  description: 'Answers the newest plan of the task.',
  responses: { ...errorResponses(404, 501), 200: { description: 'The plan', schema: PlanRecord } },
})

/** A message from one child task to another. */
export const MessageSend = z
  .object({
    fromTask: field(Name, 'Task that sends it.', 'research-1'),
    toTask: field(
      z.union([Name, z.literal('*')]),
      'Task that it is for; `*` means all children of the parent.',
      'research-2',
    ),
    parentTask: field(Name, 'Parent of both tasks.', 'nightly-report'),
    content: field(z.string().min(1, 'must not be empty'), 'The text.', 'I take the second page'),
  })
  .meta({ id: 'MessageSend' })
export type MessageSend = z.infer<typeof MessageSend>

export const sendMessage = workerRoutes.post('/messages/:namespace', {
  summary: 'Send a message to a sibling, or to all with `*`',
  description: 'Sends a message to another child of the same parent, or to all of them.',
  params: z.object({ namespace: field(Name, 'Namespace of the tasks.', 'default') }),
  body: MessageSend,
  responses: { ...errorResponses(404, 501), 204: { description: 'Sent' } },
})

export const readMessages = workerRoutes.get('/messages/:namespace/:taskName', {
  summary: 'Unread messages of the task, oldest first',
  description: 'Answers the messages that the task has not read yet, oldest first.',
  query: z.object({
    parentTask: field(Name, 'Parent of the tasks.', 'nightly-report'),
    markRead: field(booleanParameter(true), 'Mark the messages as read.'),
  }),
  responses: { ...errorResponses(501), 200: { description: 'Messages', schema: z.array(AgentMessage) } },
})

export const appendLogs = workerRoutes.post('/logs/:namespace/:taskName', {
  summary: 'Append to the logs of the task; the body is read as it comes',
  description:
    'Appends lines to the log of the task. The body is read while it is sent. With `unfinished`, the text after the last line ' +
    'end is not a line yet: followers see it, and each request replaces it, by more of the same line or by the whole line.',
  query: z.object({
    unfinished: field(booleanParameter(false), 'Whether the text after the last line end is the beginning of a line.'),
    marked: field(
      booleanParameter(false),
      'Whether each line has its mark before it, and a space: the milliseconds since 1970 to the base of 36, `O` for stdout or `E` for stderr, and `D`, `I`, `W` or `F` where it has the level debug, info, warn or error. What is unfinished has none.',
    ),
  }),
  rawBody: 'text/plain',
  bodyLimit: 1024 * mebibyte,
  responses: { ...errorResponses(404, 409), 204: { description: 'Appended' } },
})

/** The saved state of a run; only the worker understands it. */
export const Checkpoint = z.unknown().meta({ id: 'Checkpoint', description: 'Any JSON' })

export const saveCheckpoint = workerRoutes.put('/checkpoints/:namespace/:taskName', {
  summary: 'Save the state of the run; replaces the one before',
  description: 'Stores the state of the tool loop, from which a later attempt goes on. It replaces the state before.',
  body: Checkpoint,
  bodyLimit: recordLimit,
  responses: { ...errorResponses(404, 409), 204: { description: 'Saved' } },
})

/** What has changed since the whole state was saved; only the worker understands it. */
export const CheckpointChange = z.unknown().meta({ id: 'CheckpointChange', description: 'Any JSON' })

export const appendCheckpoint = workerRoutes.post('/checkpoints/:namespace/:taskName', {
  summary: 'Add a change to the state that this attempt saved; a number that is there already is ignored',
  description: 'Stores what has changed since the whole state was stored. A number that is there already is ignored.',
  query: z.object({
    number: field(integerParameter({ min: 1, max: 1_000_000 }), 'Number of the change, rising by one.', 3),
  }),
  body: CheckpointChange,
  bodyLimit: mebibyte,
  responses: { ...errorResponses(404, 409), 204: { description: 'Added' } },
})

export const readCheckpoint = workerRoutes.get('/checkpoints/:namespace/:taskName', {
  summary: 'The newest saved state of the task, of whichever attempt',
  description: 'Answers the newest stored state of the task, whichever attempt stored it.',
  responses: {
    ...errorResponses(404),
    200: { description: 'A list: the state as it was saved, then the changes in order', schema: z.array(Checkpoint) },
  },
})

/** Limit for one call, so that sums stay exact whole numbers. */
const tokens = z.int().min(0).max(1e12)

/** The tokens of one model call. */
export const UsageSubmit = z
  .strictObject({
    id: field(limitedText(128).min(1), 'Id of the record; a second record with the same id is ignored.', '0192f0c1-1'),
    provider: field(
      z.strictObject({
        namespace: field(Name, 'Namespace of the provider.', 'default'),
        name: field(Name, 'Name of the provider.', 'main'),
      }),
      'Provider that was called.',
    ),
    model: field(limitedText(256), 'Model that was called.', 'large-model'),
    inputTokens: field(tokens, 'Input tokens, as the vendor counted them.', 1200),
    outputTokens: field(tokens, 'Output tokens, as the vendor counted them.', 340),
    cachedTokens: field(tokens.default(0), "Input tokens that were read from the vendor's cache.", 1000),
    cacheWriteTokens: field(tokens.default(0), "Input tokens that were written to the vendor's cache.", 500),
    estimatedInputTokens: field(tokens.default(0), 'Input tokens that the vendor did not count, estimated.', 80),
    estimatedOutputTokens: field(tokens.default(0), 'Output tokens that the vendor did not count, estimated.', 20),
    demo: field(
      z.boolean().default(false),
      'The call was answered by the demo provider, which is not a language model.',
    ),
    brokeOff: field(
      z.boolean().default(false),
      'The answer was not complete: its tokens count, but not as a sign that the provider works.',
    ),
  })
  .meta({ id: 'UsageSubmit' })
export type UsageSubmit = z.infer<typeof UsageSubmit>

export const submitUsage = workerRoutes.post('/usage/:namespace/:taskName', {
  summary: 'Record one model call; cost follows from the price of the provider',
  description: 'Records the tokens of one model call; the cost follows from the prices of the provider.',
  body: UsageSubmit,
  responses: { ...errorResponses(404, 409), 204: { description: 'Recorded' } },
})

/** `token` is sent as the header `Txn-Token` of one call. */
export const ToolToken = z
  .object({
    token: field(z.string(), 'The token to send.', 'eyJhbGciOi'),
    expiresAt: field(Timestamp.optional(), 'When it ends.'),
  })
  .meta({ id: 'ToolToken', description: 'A secret: never logged' })
export type ToolToken = z.infer<typeof ToolToken>

export const takeToolToken = workerRoutes.post('/tool-tokens/:namespace/:taskName/:tool', {
  summary: 'Exchange a transaction token for one call of a custom tool of the task',
  description: 'Exchanges the context token of the task for one that is valid for a call of this tool.',
  params: WorkerTaskPath.extend({ tool: field(Name, 'Name of the Tool.', 'weather') }),
  responses: { ...errorResponses(404, 501, 502), 200: { description: 'The token', schema: ToolToken } },
})

const provider = z.object({
  namespace: field(Name, 'Namespace of the provider.', 'default'),
  provider: field(Name, 'Name of the provider.', 'main'),
})

/**
 * With requests, it asks for them and for the tokens, of which at most a minute's worth is taken. Without requests, it
 * corrects an earlier lease once the true number of tokens is known; this is always granted, and negative tokens are
 * returned. With only zeros, it asks for the state of the provider.
 */
export const LeaseRequest = z
  .strictObject({
    requests: field(z.int().min(0), 'Requests to be sent.', 1),
    tokens: field(z.int(), 'Tokens to be used; negative to give some back.', 1200),
    kind: field(
      z.literal('Agent').optional(),
      "Whose limit: `Agent` for that of the task's agent, named in place of the provider. Without it: the provider's.",
    ),
    model: field(
      limitedText(256).min(1).optional(),
      'Model whose cool-down is answered. Without it: those of all models of the provider.',
      'large-model',
    ),
  })
  .refine(({ requests, tokens }) => requests === 0 || tokens >= 0, {
    path: ['tokens'],
    message: 'must not be negative with requests: tokens are given back without any',
  })
  .meta({ id: 'LeaseRequest' })
export type LeaseRequest = z.infer<typeof LeaseRequest>

/** Whether a request may be sent now. */
export const LeaseAnswer = z
  .object({
    granted: field(z.boolean(), 'Whether the request may be sent.'),
    retryAfterMs: field(z.number().min(0), 'Milliseconds to wait before asking again; 0 when granted.', 0),
    tokens: field(z.int(), 'Tokens that were taken; negative when they were given back.', 1200),
    coolingDown: field(
      z
        .object({
          forMs: field(z.number().min(0), 'Milliseconds until it ends.', 20000),
          reason: field(z.string(), 'What the vendor said.', 'rate limit reached'),
          failure: field(z.enum(callFailures), 'Sort of failure.'),
          asked: field(z.boolean(), 'Whether the vendor named the time.'),
        })
        .optional(),
      'Present while nothing may be sent to the provider.',
    ),
  })
  .meta({ id: 'Lease' })
export type LeaseAnswer = z.infer<typeof LeaseAnswer>

const ofProvider = routesOf({ tag: 'Worker API', base: '/internal/v1', auth: 'worker', params: provider })

export const takeLease = ofProvider.post('/leases/:namespace/:provider', {
  summary: 'Take requests and tokens from the rate limit of a provider, or correct what was taken',
  description:
    'Takes requests and tokens from the rate limit of a provider before a call, or corrects what was taken afterwards.',
  body: LeaseRequest,
  responses: { ...errorResponses(404), 200: { description: 'Granted or not', schema: LeaseAnswer } },
})

/** A provider that refuses calls for a time. */
export const CooldownRequest = z
  .strictObject({
    seconds: field(z.number().min(0).max(86_400), 'How long, in seconds.', 20),
    reason: field(limitedText(1024), 'What the vendor said.', 'rate limit reached'),
    model: field(
      limitedText(256).min(1).optional(),
      'Model that it is about. Without it: all models of the provider.',
      'large-model',
    ),
    failure: field(z.enum(callFailures).default('RateLimited'), 'Sort of failure.'),
    asked: field(z.boolean().default(false), 'Whether the vendor named the time.'),
  })
  .meta({ id: 'CooldownRequest' })
export type CooldownRequest = z.infer<typeof CooldownRequest>

export const coolDown = ofProvider.post('/cooldowns/:namespace/:provider', {
  summary: 'Say that a provider refuses calls for a while',
  description: 'Reports that a provider refuses calls for a while, so that all replicas leave it alone.',
  body: CooldownRequest,
  responses: { ...errorResponses(404), 204: { description: 'Noted' } },
})

/** Limits of one report. */
export const maxFailures = 10_000

/** What a word of a vendor can be that is not known. */
export const unknownKinds = ['finish_reason', 'frame', 'block', 'body'] as const

/**
 * How the calls of a provider went since the last report. Successes need no report, since usage shows them. A report is
 * due when calls begin to fail, when one succeeds again, and at intervals while they keep failing.
 */
export const CallsReport = z
  .strictObject({
    answered: field(z.boolean().default(false), 'Whether one of the calls was answered.'),
    failures: field(
      z.int().min(0).max(maxFailures).default(0),
      'How many calls failed since then, or in all when none was answered.',
      2,
    ),
    reason: field(
      limitedText(1024).min(1).optional(),
      'Why the last of them failed, without secrets.',
      'connection refused',
    ),
    unknown: field(
      z
        .array(
          z.strictObject({
            kind: field(z.enum(unknownKinds), 'What it is.'),
            word: field(limitedText(200), 'The word.', 'paused'),
          }),
        )
        .max(20)
        .optional(),
      'Words in its answers that the worker does not know.',
    ),
  })
  .refine(({ failures, reason }) => failures > 0 === (reason !== undefined), {
    path: ['reason'],
    message: 'must be there when calls failed, and only then',
  })
  .meta({ id: 'CallsReport' })
export type CallsReport = z.infer<typeof CallsReport>

export const reportCalls = ofProvider.post('/provider-calls/:namespace/:provider', {
  summary: 'Say how calls of a provider ended',
  description: 'Reports how calls of a provider ended, from which its status follows.',
  body: CallsReport,
  responses: { ...errorResponses(404), 204: { description: 'Noted' } },
})
