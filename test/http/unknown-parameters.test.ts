// A query parameter that nobody reads is refused, so that a misspelt one does not widen what is asked for.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, startService } from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.stop())

it('names it, and what there is', async () => {
  const answer = await service.call('GET /api/v1/tasks?fase=Failed&limit=1')
  expect(answer.statusCode).toBe(400)
  expect(answer.json().error.details).toEqual([
    { path: 'fase', message: expect.stringMatching(/^is not a parameter of this route; there are .*phase/) },
  ])
  const alone = await service.call('DELETE /api/v1/tasks/x?namespac=y')
  expect([alone.statusCode, alone.json().error.message]).toEqual([400, expect.stringContaining('namespac')])
  expect((await service.call('GET /api/v1/tasks?phase=Failed&limit=1')).statusCode).toBe(200)
})

it('is told with every other problem of the request', async () => {
  const { error } = (await service.call('GET /api/v1/tasks?limit=0&fase=x')).json()
  expect(error.details.map(({ path }: { path: string }) => path).sort()).toEqual(['fase', 'limit'])
})

it('is not a matter for the proxies, whose clients send their own', async () => {
  const { statusCode } = await service.call('GET /llmo/v1/models?beta=true')
  expect(statusCode).toBe(200)
})
