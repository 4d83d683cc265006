// What a task leaves behind besides its resource: result, logs, artifacts, plan, timeline.
import { z } from 'zod'
import { isInnerPath } from '../../../lib/inner-path.ts'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { listOf } from '../resources/list.ts'

/** Path of an artifact within the workspace: `report.md`, `src/main.py`. In a URL its `/` is written `%2F`. */
export const ArtifactPath = limitedText(255).refine(
  isInnerPath,
  'must be a path of file names, without "." and ".." and without control characters',
)

/** The result of a task. */
export const TaskResult = z
  .object({ result: field(z.string(), 'The result as text.', 'Three products are described.') })
  .meta({ id: 'TaskResult' })
export type TaskResult = z.infer<typeof TaskResult>

/** The log of a task. */
export const TaskLogs = z
  .object({ logs: field(z.string(), 'The log as text, one entry on each line.', 'hello') })
  .meta({ id: 'TaskLogs' })
export type TaskLogs = z.infer<typeof TaskLogs>

/** The data of the event `part` in a followed log: a further part of an unfinished line. */
export type LogPart = {
  /** Its position in the line in UTF-16 code units; 0 is the start of the line. */
  offset: number
  text: string
}

/** An artifact of a task. */
export const ArtifactItem = z
  .object({
    filename: field(z.string(), 'Name of the file.', 'report.md'),
    contentType: field(z.string(), 'Content type of the file.', 'text/markdown'),
    size: field(z.int().min(0), 'Size in bytes.', 2048),
    createdAt: field(Timestamp, 'When it was stored.'),
  })
  .meta({ id: 'Artifact' })
export type ArtifactItem = z.infer<typeof ArtifactItem>
/** The artifacts of a task. */
export const ArtifactList = listOf(ArtifactItem, 'ArtifactList')

/** Characters of a plan and of its summary; how many plans of a task are kept, and the bytes of all of them. */
export const planLimits = { document: 1_048_576, summary: 16_384, versions: 200, bytes: 16_777_216 } as const

/** The plan record, for users and workers (PLAN-001). */
export const PlanRecord = z
  .object({
    TaskName: field(z.string(), 'Name of the task.', 'nightly-report'),
    Namespace: field(z.string(), 'Namespace of the task.', 'default'),
    Iteration: field(z.int().min(0), 'Iteration that the plan belongs to, from 0.', 0),
    Summary: field(z.string(), 'What was done, in one sentence.', 'two of three pages read'),
    ProgressPct: field(z.int().min(0).max(100), 'Progress in percent.', 60),
    GoalComplete: field(z.boolean(), 'Whether the goal is reached.'),
    PlanDocument: field(z.string(), 'The plan in Markdown.', '- [x] read the pages'),
    CreatedAt: field(Timestamp, 'When it was first written.'),
    UpdatedAt: field(Timestamp, 'When it was last written.'),
  })
  .meta({ id: 'Plan' })
export type PlanRecord = z.infer<typeof PlanRecord>

/** A plan as it was saved once. */
export const PlanVersion = PlanRecord.pick({
  Iteration: true,
  Summary: true,
  ProgressPct: true,
  GoalComplete: true,
  PlanDocument: true,
})
  .extend({
    Number: field(z.int().min(1), 'Number of the plan, from 1, rising with each one that is saved.', 3),
    SavedAt: field(Timestamp, 'When it was saved.'),
  })
  .meta({ id: 'PlanVersion' })
export type PlanVersion = z.infer<typeof PlanVersion>
/** The plans of a task. */
export const PlanVersionList = listOf(PlanVersion, 'PlanVersionList')

/** The plan inside GET /tasks/:id, while the task works in iterations. */
export const PlanExcerpt = z
  .object({
    summary: field(z.string(), 'What was done, in one sentence.', 'two of three pages read'),
    progressPct: field(z.int().min(0).max(100), 'Progress in percent.', 60),
    goalComplete: field(z.boolean(), 'Whether the goal is reached.'),
    planDocument: field(z.string().optional(), 'The plan in Markdown.', '- [x] read the pages'),
    iteration: field(z.int().min(0), 'Iteration that the plan belongs to, from 0.', 0),
  })
  .meta({ id: 'PlanExcerpt' })
export type PlanExcerpt = z.infer<typeof PlanExcerpt>

/** One event in the life of a task. */
export const TimelineEvent = z
  .object({
    id: field(z.int().min(1), 'Number of the event, rising for each task; the id in the event stream.', 17),
    taskUid: field(z.string(), 'Uid of the task.', '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10'),
    attempt: field(z.int().min(0), 'Attempt that the event belongs to; 0 before the first one.', 1),
    type: field(
      z.string(),
      'What happened: `PhaseChanged`, `Queued`, `RetryScheduled`, `Interrupted`, `CallbackDelivered`, `PlanSaved` and others; of agents `ToolCalled`, `FilesEdited`, `TurnStarted` and others.',
      'PhaseChanged',
    ),
    phase: field(z.string().optional(), 'Phase of the task afterwards.', 'Running'),
    reason: field(z.string().optional(), 'Why, as one word for programs.', 'SessionLocked'),
    message: field(z.string(), 'What happened, in one sentence.', 'attempt 1 started'),
    createdAt: field(Timestamp, 'When it happened.'),
  })
  .meta({ id: 'TimelineEvent' })
export type TimelineEvent = z.infer<typeof TimelineEvent>
/** The timeline of a task. */
export const TimelineEventList = listOf(TimelineEvent, 'TimelineEventList')

/** A message between siblings. */
export const AgentMessage = z
  .object({
    id: field(z.int().min(1), 'Number of the message.', 1),
    namespace: field(z.string(), 'Namespace of the tasks.', 'default'),
    fromTask: field(z.string(), 'Task that sent it.', 'research-1'),
    toTask: field(z.string(), 'Task that it is for; `*` means all children of the parent.', 'research-2'),
    parentTask: field(z.string(), 'Parent of both tasks.', 'nightly-report'),
    content: field(z.string(), 'The text.', 'I take the second page'),
    read: field(z.boolean(), 'Whether it was read.'),
    createdAt: field(Timestamp, 'When it was sent.'),
  })
  .meta({ id: 'AgentMessage' })
export type AgentMessage = z.infer<typeof AgentMessage>

/** The same for people: whose messages they are stands in the path, and nobody in particular reads them. */
export const TaskMessage = AgentMessage.pick({
  id: true,
  fromTask: true,
  toTask: true,
  content: true,
  createdAt: true,
}).meta({
  id: 'TaskMessage',
})
export type TaskMessage = z.infer<typeof TaskMessage>
/** Messages below a task. */
export const TaskMessageList = listOf(TaskMessage, 'TaskMessageList')
