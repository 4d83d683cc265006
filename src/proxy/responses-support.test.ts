import { describe, expect, it } from 'vitest'
import type { ModelError } from '../llm/messages/messages.ts'
import type { ProxyRequest } from './request.ts'
import { createResponsesSupport } from './responses-support.ts'
import type { ProxyTarget } from './target.ts'

const makeRequest = (body: string, endpoint = 'responses') => ({ endpoint, body: Buffer.from(body) }) as ProxyRequest
const target = { choice: { provider: { type: 'llmo', baseUrl: 'http://vendor.invalid/v1' } } } as ProxyTarget
const refusal = (status: number, message: string, reason: ModelError['reason'] = 'RequestRefused') => ({
  status,
  message,
  reason,
})
const hourMs = 3_600_000

describe('a provider without the responses API', () => {
  it('is known by what it answers to the path, not by what it says of things', () => {
    const { isMissing } = createResponsesSupport({ now: () => new Date(0) })
    const request = makeRequest('{}')
    for (const status of [404, 405, 501]) expect(isMissing(request, refusal(status, 'Not Found'))).toBe(true)
    expect(isMissing(request, refusal(404, 'Invalid URL (POST /v1/responses)'))).toBe(true)
    expect(isMissing(request, refusal(404, "Item with id 'rs_1' not found."))).toBe(false)
    expect(isMissing(request, refusal(404, 'no such model', 'ModelNotFound'))).toBe(false)
    expect(isMissing(request, refusal(400, 'Not Found'))).toBe(false)
    expect(isMissing(makeRequest('{}', 'chat'), refusal(404, 'Not Found'))).toBe(false)
  })

  it('is remembered for an hour, once the request went well in other words', () => {
    let now = 0
    const support = createResponsesSupport({ now: () => new Date(now) })
    const plan = { answer: () => Promise.reject(new Error('plays no part here')), done() {} }
    support.remember(target, plan).done('failed')
    expect(support.isForeign(makeRequest('{}'), target)).toBe(false)
    support.remember(target, plan).done('ok')
    expect(support.isForeign(makeRequest('{}'), target)).toBe(true)
    now = hourMs
    expect(support.isForeign(makeRequest('{}'), target)).toBe(false)
  })

  it('is not the only one whose requests are translated: those that name what the service made are, too', () => {
    const { isForeign } = createResponsesSupport({ now: () => new Date(0) })
    const bodies = [
      '{"previous_response_id":"resp_svc_0a"}',
      '{"input":[{"id":"msg_svc_0a_1"}]}',
      '{"x":"svc-turn.e30"}',
    ]
    for (const body of bodies) expect(isForeign(makeRequest(body), target)).toBe(true)
    expect(isForeign(makeRequest('{"input":"my_svc_file and resp_1"}'), target)).toBe(false)
    expect(isForeign(makeRequest(bodies[0] ?? '', 'chat'), target)).toBe(false)
  })
})
