// Liveness, readiness, metrics and the OpenAPI document.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { ReadHeaders, routesOf } from '../resources/route.ts'

/** The answer of a running process. */
export const Health = z.object({ status: field(z.literal('ok'), 'Always `ok`.') }).meta({ id: 'Health' })

/** The result of every readiness check. */
export const Readiness = z
  .object({
    status: field(z.enum(['ok', 'not ready']), 'Whether the service can do its work.'),
    checks: field(z.record(z.string(), z.enum(['ok', 'unhealthy'])), 'Result of each check by its name.', {
      database: 'ok',
    }),
  })
  .meta({ id: 'Readiness' })
export type Readiness = z.infer<typeof Readiness>

const routes = routesOf({ tag: 'Health', auth: 'none' })

export const getHealth = routes.get('/healthz', {
  summary: 'Whether the process lives',
  description: 'Answers 200 as long as the process runs. It asks nothing else.',
  responses: { 200: { description: 'It does', schema: Health } },
})

export const getReadiness = routes.get('/readyz', {
  summary: 'Whether the service can do its work',
  description: 'Answers 200 when the service can do its work, and 503 with the failed checks when it cannot.',
  responses: {
    200: { description: 'It can', schema: Readiness },
    503: { description: 'A check failed', schema: Readiness },
  },
})

export const getOpenApi = routes.get('/openapi.json', {
  summary: 'OpenAPI 3.1 description',
  description: 'Answers this document.',
  headers: ReadHeaders,
  responses: { 200: { description: 'The document', schema: z.record(z.string(), z.unknown()) } },
})

export const getInternalOpenApi = routes.get('/openapi-internal.json', {
  summary: 'OpenAPI 3.1 description of the internal routes',
  description: 'Answers the document of the routes that workers call.',
  headers: ReadHeaders,
  responses: { 200: { description: 'The document', schema: z.record(z.string(), z.unknown()) } },
})
