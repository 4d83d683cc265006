// The trace of a task: the steps of all its attempts, as a list of a tree, or as they come.
import { z } from 'zod'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { booleanParameter, integerParameter, ListQuery, listOf, someOf } from '../resources/list.ts'
import { errorResponses, routesOf, StreamHeaders } from '../resources/route.ts'
import { StepReport, stepKinds } from './steps.ts'

/** A step of a trace. */
export const TraceStep = StepReport.extend({
  seq: field(z.int().min(1), 'Rises with each change of a step of the task; the id in the event stream.', 17),
  attempt: field(z.int().min(1), 'Attempt that the step belongs to. Ids of steps are those of their attempt.', 1),
}).meta({ id: 'TraceStep' })
export type TraceStep = z.infer<typeof TraceStep>
/** Steps of a trace. */
export const TraceStepList = listOf(TraceStep, 'TraceStepList')

/** Query of a trace; `of`: whose steps, and when a live stream ends. */
export function traceQuery(of: { run: string; end: string }) {
  return ListQuery.extend({
    follow: field(booleanParameter(false), `Stream the steps as events; the stream ends when ${of.end}.`),
    attempt: field(integerParameter({ min: 1, max: 1_000_000 }).optional(), `Only steps of this ${of.run}.`, 1),
    kind: field(someOf(stepKinds).optional(), 'Only steps of these kinds, with commas between them.', 'model,tool'),
  })
}

export const getTaskTrace = routesOf({ tag: 'Tasks', kind: 'Task' }).get('/api/v1/tasks/:id/trace', {
  summary: 'Trace of a task: every step of its attempts, at once or as they come',
  description:
    'Answers the steps of the task, each with the id of the step that it belongs to, in the order in which they last changed. ' +
    'With `follow=true` an event stream: a step comes when it begins, and again, with the same attempt and id, when it has ended. ' +
    'Of a task with very many steps the oldest have no arguments and results any more.',
  params: z.object({ id: field(Name, 'Name of the task.', 'nightly-report') }),
  query: traceQuery({ run: 'attempt', end: 'the task has ended' }),
  headers: StreamHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Steps', schema: TraceStepList } },
  stream: 'sse',
})
