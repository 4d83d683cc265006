// The part of the worker API by which an agent program goes on with a session as it has kept it itself.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'

/** Characters of what a program keeps of a session. */
export const maxProgramSessionBytes = 5 * 1_048_576

const programModel = z.object({
  model: field(limitedText(512).min(1), 'Provider and model that the program uses.', 'main/large-model'),
})

/** A session as an agent program keeps it itself. */
export const ProgramSession = z
  .strictObject({
    id: field(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/, 'must be letters, digits, - and _'),
      'What the program calls its session.',
      '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10',
    ),
    text: field(limitedText(maxProgramSessionBytes), "The program's own file.", '{"type":"user"}'),
  })
  .meta({ id: 'ProgramSession' })
export type ProgramSession = z.infer<typeof ProgramSession>

export const keepProgramSession = workerRoutes.put('/program-sessions/:namespace/:taskName', {
  summary: "Keep what the agent program knows of the task's session; replaces the one before",
  description:
    'Stores the session as the agent program keeps it, for the next task of the same session, agent, program and model. A task that ' +
    'appends nothing to its session stores nothing here either.',
  query: programModel,
  body: ProgramSession,
  // As JSON it can be twice as long, and more where it holds other scripts.
  bodyLimit: 4 * maxProgramSessionBytes,
  responses: { ...errorResponses(404, 409), 204: { description: 'Kept' } },
})

export const readProgramSession = workerRoutes.get('/program-sessions/:namespace/:taskName', {
  summary: "What the agent program knows of the task's session",
  description:
    'Answers what an earlier task of the same session, agent, program and model has stored, if the session ends with that task ' +
    'and has no more messages than this task may see.',
  query: programModel,
  responses: { ...errorResponses(404), 200: { description: 'The session', schema: ProgramSession } },
})
