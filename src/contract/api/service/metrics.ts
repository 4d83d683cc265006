// Metrics for Prometheus. In Kubernetes mode they have a listener of their own instead.
import { errorResponses, routesOf } from '../resources/route.ts'

export const getMetrics = routesOf({ tag: 'Health', kind: 'Metrics' }).get('/metrics', {
  summary: 'Metrics in the text format of Prometheus',
  description: 'Answers the metrics of the service in the text format of Prometheus.',
  responses: { ...errorResponses(404), 200: { description: 'Metrics', contentType: 'text/plain' } },
})
