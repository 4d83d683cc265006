// What a task leaves behind besides its resource: result, logs, artifacts, plan, timeline.
import { z } from 'zod'
import { Timestamp } from '../resources/metadata.ts'
import { listOf } from './list.ts'

export const TaskResult = z.object({ result: z.string() }).meta({ id: 'TaskResult' })
export type TaskResult = z.infer<typeof TaskResult>

export const TaskLogs = z.object({ logs: z.string() }).meta({ id: 'TaskLogs' })
export type TaskLogs = z.infer<typeof TaskLogs>

export const ArtifactItem = z
  .object({
    filename: z.string(),
    contentType: z.string(),
    /** Bytes. */
    size: z.int().min(0),
    createdAt: Timestamp,
  })
  .meta({ id: 'Artifact' })
export type ArtifactItem = z.infer<typeof ArtifactItem>
export const ArtifactList = listOf(ArtifactItem, 'ArtifactList')

/** The plan record, in public and to workers alike (PLAN-001). */
export const PlanRecord = z
  .object({
    TaskName: z.string(),
    Namespace: z.string(),
    Iteration: z.int().min(0),
    Summary: z.string(),
    ProgressPct: z.int().min(0).max(100),
    GoalComplete: z.boolean(),
    /** Markdown. */
    PlanDocument: z.string(),
    CreatedAt: Timestamp,
    UpdatedAt: Timestamp,
  })
  .meta({ id: 'Plan' })
export type PlanRecord = z.infer<typeof PlanRecord>

/** The plan inside GET /tasks/:id, while the task works in iterations. */
export const PlanExcerpt = z
  .object({
    summary: z.string(),
    progressPct: z.int().min(0).max(100),
    goalComplete: z.boolean(),
    planDocument: z.string().optional(),
    iteration: z.int().min(0),
  })
  .meta({ id: 'PlanExcerpt' })
export type PlanExcerpt = z.infer<typeof PlanExcerpt>

export const TimelineEvent = z
  .object({
    /** Rises by one per task; the id of the event stream. */
    id: z.int().min(1),
    taskUid: z.string(),
    attempt: z.int().min(0),
    /** `PhaseChanged`, `Queued`, `RetryScheduled`, `Interrupted`, `CallbackDelivered` ... */
    type: z.string(),
    phase: z.string().optional(),
    reason: z.string().optional(),
    message: z.string(),
    createdAt: Timestamp,
  })
  .meta({ id: 'TimelineEvent' })
export type TimelineEvent = z.infer<typeof TimelineEvent>
export const TimelineEventList = listOf(TimelineEvent, 'TimelineEventList')
