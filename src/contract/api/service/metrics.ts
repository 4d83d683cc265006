// Metrics for Prometheus. In Kubernetes mode they have a listener of their own instead.
import { defineRoute, errorResponses } from '../resources/route.ts'

export const getMetrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  tag: 'Health',
  summary: 'Metrics in the text format of Prometheus',
  description: 'Answers the metrics of the service in the text format of Prometheus.',
  responses: { ...errorResponses(404), 200: { description: 'Metrics', contentType: 'text/plain' } },
  auth: 'user',
  verb: { verb: 'get', kind: 'Metrics' },
})
