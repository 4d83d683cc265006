// Tasks: the ten routes of the specification, and cancel, retry and events.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import { Task, taskPhases, taskTypes } from '../../kinds/tasks/task.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import {
  booleanParameter,
  integerParameter,
  ListQuery,
  listOf,
  NamespaceQuery,
  orSummary,
  SortParameter,
  someOf,
  TimeParameter,
  WholeListQuery,
} from '../resources/list.ts'
import { updateBodyOf } from '../resources/resource-body.ts'
import {
  CreateHeaders,
  errorResponses,
  ReadHeaders,
  routesOf,
  StreamHeaders,
  WriteHeaders,
} from '../resources/route.ts'
import { logLevels, logStreams } from './log-marks.ts'
import { TaskCreate } from './task-body.ts'
import {
  ArtifactList,
  ArtifactPath,
  PlanExcerpt,
  PlanRecord,
  PlanVersionList,
  planLimits,
  TaskLogs,
  TaskMessageList,
  TaskResult,
  TimelineEventList,
} from './task-records.ts'

const params = z.object({ id: field(Name, 'Name of the task.', 'nightly-report') })

/** One page of tasks. */
export const TaskList = listOf(orSummary(Task), 'TaskList')

/** GET /tasks/:id: the task, with its plan if it works in iterations. */
export const TaskDetail = Task.extend({
  plan: field(PlanExcerpt.optional(), 'Newest plan of an autonomous agent.'),
}).meta({ id: 'TaskDetail' })
export type TaskDetail = z.infer<typeof TaskDetail>

/** Filters of tasks by what is in them. */
export const taskFilters = {
  phase: field(
    someOf(taskPhases).optional(),
    'Only tasks in one of these phases, separated by commas; schedules are `Scheduled`.',
    'Pending,Running',
  ),
  type: field(z.enum(taskTypes).optional(), 'Only tasks of this type.'),
  agent: field(Name.optional(), 'Only tasks of this agent.', 'researcher'),
}

/** Filters of tasks; a task must match all of them. */
export const TaskListQuery = WholeListQuery.extend({
  ...taskFilters,
  parent: field(
    Name.optional(),
    'Only child tasks of this task, which is in the namespace of the request.',
    'nightly-report',
  ),
})
export type TaskListQuery = z.infer<typeof TaskListQuery>

const all = routesOf({ tag: 'Tasks', base: '/api/v1/tasks', kind: 'Task' })

export const createTask = all.create('', {
  summary: 'Create a task',
  description:
    'Stores a task and starts it as soon as it may run. With `schedule` it becomes a schedule, whose runs are tasks of their own. Fields of the spec may stand at the top of the body.',
  query: NamespaceQuery.extend({
    retryOf: field(
      Name.optional(),
      'Task of the same namespace that this one repeats with changes; its name becomes the label `svc.ai/retry-of`.',
      'nightly-report',
    ),
  }),
  headers: CreateHeaders.extend({
    traceparent: field(
      limitedText(512).optional(),
      'Trace that the task belongs to (W3C Trace Context); a header that is not valid is ignored.',
      '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    ),
  }),
  body: TaskCreate,
  responses: { ...errorResponses(409), 201: { description: 'The task as stored', schema: Task } },
})

export const listTasks = all.list('', {
  summary: 'List tasks',
  description:
    'Lists tasks, one page at a time. The filters can be combined. Each page is of the state at the first one.',
  query: TaskListQuery,
  headers: ReadHeaders,
  responses: {
    ...errorResponses(410),
    200: { description: 'One page, in the order asked for', schema: TaskList },
  },
})

const one = routesOf({ tag: 'Tasks', base: '/api/v1/tasks/:id', kind: 'Task', params, query: NamespaceQuery })

export const getTask = one.get('', {
  summary: 'Get a task',
  description: 'Answers the task with its status; for an autonomous agent with its newest plan.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'The task', schema: TaskDetail } },
})

export const updateTask = one.put('', {
  summary: 'Replace the spec of a task that has not started, or of a schedule',
  description:
    'Replaces the spec. A task can be changed until its first attempt starts, a schedule at any time; its present runs are not touched.',
  headers: WriteHeaders,
  body: updateBodyOf('Task'),
  responses: {
    ...errorResponses(404, 409),
    200: { description: 'The task as stored; 409 names what a started task has fixed', schema: Task },
  },
})

export const deleteTask = one.delete('', {
  summary: 'Stop a task, if it runs, and delete it',
  description: 'Stops a running task and deletes it with its logs, result, artifacts and child tasks.',
  headers: WriteHeaders,
  responses: { ...errorResponses(404, 409), 204: { description: 'Deleted, or about to be' } },
})

/** Why a task is cancelled. */
export const CancelBody = z
  .strictObject({
    reason: field(limitedText(1024).optional(), 'Why the task is cancelled; kept in its status.', 'no longer needed'),
  })
  .meta({ id: 'TaskCancel' })
export type CancelBody = z.infer<typeof CancelBody>

export const cancelTask = one.post('/cancel', {
  summary: 'Cancel a task; it stays, in phase Cancelled',
  description: 'Stops the task. It stays with its records, in phase Cancelled; its child tasks are cancelled as well.',
  body: CancelBody,
  bodyOptional: true,
  responses: {
    ...errorResponses(404, 409),
    200: { description: 'The task; already cancelled is not an error, otherwise ended is 409', schema: Task },
  },
})

/** A request to run a schedule now. */
export const ScheduledRun = z
  .object({
    name: field(Name, 'Name of the run, which is a task of its own.', 'nightly-1893456000'),
    namespace: field(Name, 'Its namespace.', 'default'),
  })
  .meta({ id: 'ScheduledRun' })
export type ScheduledRun = z.infer<typeof ScheduledRun>

export const runTask = one.post('/run', {
  summary: 'Make a run of a schedule now',
  description:
    'The run is made as at a tick, also while the schedule is suspended or another run is under way. ' +
    'The answer names it; it is there a moment later. Asked twice within a second it is made once.',
  responses: {
    ...errorResponses(400, 404, 409),
    202: { description: 'The run that will be made', schema: ScheduledRun },
  },
})

/** The name of the new task. */
export const RetryBody = z
  .strictObject({
    name: field(Name.optional(), 'Name of the new task. Without it: made up by the service.', 'nightly-report-2'),
  })
  .meta({ id: 'TaskRetry' })
export type RetryBody = z.infer<typeof RetryBody>

export const retryTask = one.create('/retry', {
  summary: 'Make a new task with the spec of one that has ended',
  description:
    'Creates a new task with the spec of one that has ended, whose name becomes the label `svc.ai/retry-of`. ' +
    'The old one stays as it is.',
  headers: CreateHeaders,
  body: RetryBody,
  bodyOptional: true,
  responses: { ...errorResponses(404, 409), 201: { description: 'The new task', schema: Task } },
})

export const getTaskLogs = one.get('/logs', {
  summary: 'Logs of a task, at once or as they come',
  description:
    'Answers the log as JSON, or as an event stream with `follow=true` that grows with the task and can be resumed by `Last-Event-ID`. ' +
    'A line that is still being written is told in events `part`, whose data is JSON: `offset` says where in the line `text` stands. ' +
    'They have no id; the line follows whole, as an event with one.',
  query: NamespaceQuery.extend({
    follow: field(booleanParameter(false), 'Stream the log as events with ids; the stream ends with an `end` event.'),
    tailLines: field(
      integerParameter({ min: 0, max: 1_000_000 }).optional(),
      'Only this many of the newest lines; with `follow` and 0 what is written from now on.',
      100,
    ),
    attempt: field(integerParameter({ min: 1, max: 1_000_000 }).optional(), 'Only lines of this attempt.', 2),
    stream: field(
      z.enum(logStreams).optional(),
      'Only lines of this stream: what the task puts out, or what it writes to its `stderr` and what is said about the run.',
      'stderr',
    ),
    since: field(
      TimeParameter.optional(),
      'Only lines from this time on (RFC 3339). Lines whose time is not known are older than any.',
    ),
    level: field(
      z.enum(logLevels).default('info'),
      'Of lines about the run only those that are at least so serious. With `debug` also what the trace shows, such as calls of tools.',
      'warn',
    ),
    timestamps: field(
      booleanParameter(false),
      'Each line after its time and a space (`-` where it is not known); a line comes only when it is whole.',
    ),
    format: field(
      z.enum(['text', 'json']).default('text'),
      'With `json` each line is a JSON object: `text`, `attempt`, and where they are known `time`, `stream` and, of lines about the run, `level`.',
      'json',
    ),
  }),
  headers: StreamHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Logs kept so far', schema: TaskLogs } },
  stream: 'sse',
})

export const getTaskEvents = one.get('/events', {
  summary: 'Timeline of a task: newest first, or as it grows',
  description:
    'Answers what happened to the task: as a list, newest first, or as an event stream with `follow=true`, oldest first.',
  query: ListQuery.extend({
    follow: field(
      booleanParameter(false),
      'Stream the timeline as events, oldest first; the stream ends when the task has ended.',
    ),
  }),
  headers: StreamHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Events', schema: TimelineEventList } },
  stream: 'sse',
})

export const getTaskResult = one.get('/result', {
  summary: 'Result of a task',
  description: 'Answers the result as text. There is none until the task has succeeded.',
  headers: ReadHeaders,
  responses: {
    ...errorResponses(404),
    200: {
      description: 'The result; as bytes when asked for',
      schema: TaskResult,
      contentType: 'application/octet-stream',
    },
  },
})

export const listTaskArtifacts = one.get('/artifacts', {
  summary: 'List the artifacts of a task',
  description: 'Lists the files that the task has left, in order of their names.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Artifacts, by name', schema: ArtifactList } },
})

export const putTaskInput = one.put('/inputs/:filename', {
  summary: 'Give a file to a task that has not started',
  description:
    'The task finds the file at this path of its workspace. Tasks of type `ai` and `agent` take files, and only before they start: ' +
    'make the task with `spec.suspend`, send the files and resume it. A file may have 10 MiB, all together 50 MiB and 1000.',
  params: params.extend({ filename: field(ArtifactPath, 'Path of the file in the workspace.', 'src/main.py') }),
  rawBody: 'application/octet-stream',
  bodyLimit: 10 * 1_048_576,
  responses: {
    ...errorResponses(404, 409, 413),
    204: { description: 'Stored; the same path overwrites' },
  },
})

export const listTaskInputs = one.get('/inputs', {
  summary: 'List the files that a task was given',
  description: 'Answers path, size and time of the files that the task was given before it started.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Files, by path', schema: ArtifactList } },
})

export const getTaskArtifact = one.get('/artifacts/:filename', {
  summary: 'Download an artifact',
  description: 'Answers the bytes of the file with the content type it was stored with.',
  params: params.extend({ filename: field(ArtifactPath, 'Path of the file in the workspace.', 'src/main.py') }),
  headers: ReadHeaders,
  responses: {
    ...errorResponses(404),
    200: { description: 'The file, with the content type it was stored with', contentType: 'application/octet-stream' },
  },
})

export const getTaskPlan = one.get('/plan', {
  summary: 'Plan of a task',
  description: 'Answers the newest plan of an autonomous agent.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404, 501), 200: { description: 'The plan', schema: PlanRecord } },
})

export const listTaskPlans = one.get('/plan/history', {
  summary: 'Plans of a task, newest first',
  description:
    `Lists every plan that the task has saved, the newest first. The latest ${planLimits.versions} are kept, ` +
    'or fewer of very long ones.',
  query: ListQuery,
  headers: ReadHeaders,
  responses: { ...errorResponses(404, 501), 200: { description: 'Plans', schema: PlanVersionList } },
})

export const listTaskMessages = one.get('/messages', {
  summary: 'Messages below a task, newest first',
  description: 'Lists what the tasks that this task has created told each other and it, and what it told them.',
  query: ListQuery,
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Messages', schema: TaskMessageList } },
})

export const listTaskChildren = one.list('/children', {
  summary: 'Child tasks of a task',
  description: 'Lists the tasks that this task has created.',
  query: ListQuery.extend({ sort: field(SortParameter, 'Order of the list, as for the list of tasks.') }),
  headers: ReadHeaders,
  responses: { 200: { description: 'Children; none when there is no such task', schema: TaskList } },
})
