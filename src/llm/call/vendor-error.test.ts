import { describe, expect, it } from 'vitest'
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import {
  type CallTarget,
  classifyVendorError,
  makeModelError,
  readRetryAfter,
  readVendorError,
  readVendorRefusal,
} from './vendor-error.ts'

const target: CallTarget = { provider: 'default/vendor', model: 'model-1', host: 'vendor.example', hasKey: true }

/** Bodies as vendors and their imitators send them. */
const answers: [CallFailure, number, unknown][] = [
  ['CredentialRefused', 401, { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }],
  [
    'CredentialRefused',
    401,
    { error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' } },
  ],
  [
    'CredentialRefused',
    403,
    { type: 'error', error: { type: 'permission_error', message: 'Your key may not use this resource' } },
  ],
  ['CreditUsedUp', 402, { type: 'error', error: { type: 'billing_error', message: 'Your credit balance is too low' } }],
  [
    'RateLimited',
    429,
    {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'would exceed your rate limit of 40,000 input tokens per minute' },
    },
  ],
  [
    'RateLimited',
    429,
    { error: { message: 'Rate limit reached for tokens per min', type: 'tokens', code: 'rate_limit_exceeded' } },
  ],
  [
    'RateLimited',
    429,
    { error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' } },
  ],
  ['ProviderOverloaded', 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
  ['ProviderOverloaded', 503, { error: { message: 'That model is currently overloaded', type: 'overloaded_error' } }],
  ['ProviderFailed', 500, { type: 'error', error: { type: 'api_error', message: 'Internal server error' } }],
  ['ProviderFailed', 502, undefined],
  [
    'RequestTooLarge',
    413,
    { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
  ],
  [
    'ContextTooLong',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' },
    },
  ],
  [
    'ContextTooLong',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
      },
    },
  ],
  [
    'ContextTooLong',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
        code: 'context_length_exceeded',
      },
    },
  ],
  [
    'ContextTooLong',
    400,
    { object: 'error', message: 'The input (5000 tokens) is longer than the context length of the model', code: 400 },
  ],
  ['ContextTooLong', 500, { error: { message: 'x', code: 'context_length_exceeded' } }],
  [
    'RequestRefused',
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens',
      },
    },
  ],
  ['RequestRefused', 400, { error: { message: "Invalid value for 'temperature'", type: 'invalid_request_error' } }],
  ['ModelNotFound', 404, { type: 'error', error: { type: 'not_found_error', message: 'model: nope-1 was not found' } }],
  [
    'ModelNotFound',
    404,
    { error: { message: 'The model `nope` does not exist or you do not have access to it.', code: 'ModelNotFound' } },
  ],
  ['ModelNotFound', 404, { error: 'model "nope" not found, try pulling it first' }],
  ['ModelNotFound', 404, { error: { message: 'No endpoints found for maker/nope.', code: 404 } }],
  [
    'ModelNotFound',
    404,
    [{ error: { code: 404, message: 'models/nope is not found for API version v1beta', status: 'NOT_FOUND' } }],
  ],
  ['WrongAddress', 404, { detail: 'Not Found' }],
  ['WrongAddress', 404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }],
  ['WrongAddress', 404, { error: { message: 'Unknown request URL: POST /v1/embeddings.', code: 'unknown_url' } }],
  ['WrongAddress', 404, { message: 'no Route matched with those values' }],
  ['WrongAddress', 404, { type: 'error', error: { type: 'not_found_error', message: 'Not Found' } }],
  ['WrongAddress', 405, { detail: 'Method Not Allowed' }],
  [
    'RequestRefused',
    404,
    { error: { message: "Item with id 'rs_0123abcd' not found.", type: 'invalid_request_error', param: 'input' } },
  ],
  ['RequestRefused', 404, { error: { message: 'No such File object: file-0123abcd', param: 'id', code: null } }],
  [
    'ModelNotFound',
    404,
    { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
  ],
  ['ModelNotFound', 400, { error: { message: 'invalid model ID', type: 'invalid_request_error' } }],
  [
    'ModelNotFound',
    403,
    {
      error: {
        message: 'Project `proj_1` does not have access to model `model-1`',
        type: 'invalid_request_error',
        code: 'model_not_found',
      },
    },
  ],
  [
    'ModelNotFound',
    403,
    { type: 'error', error: { type: 'RegionError', message: 'This model is not available in your country.' } },
  ],
  [
    'ModelNotFound',
    403,
    {
      error: {
        message: 'The model `model-1` is blocked at the project level.',
        type: 'permissions_error',
        code: 'model_permission_blocked_project',
      },
    },
  ],
  [
    'CreditUsedUp',
    403,
    {
      code: 'The caller does not have permission to execute the specified operation',
      error: "Your newly created team doesn't have any credits or licenses yet.",
    },
  ],
  ['CreditUsedUp', 403, { error: 'You have run out of credits or need a subscription.' }],
]

/** What vendors and what stands before them answer to an address, a region or an organisation, whatever the key is. */
const blocks: [status: number, text: string, words: string][] = [
  [
    403,
    '{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}',
    'Country, region, or territory not supported',
  ],
  [403, '{"error":{"type":"forbidden","message":"Request not allowed"}}', 'Request not allowed'],
  [
    403,
    '{"error":{"code":"403","message": "Access denied due to Virtual Network/Firewall rules."}}',
    'Access denied due to Virtual Network/Firewall rules.',
  ],
  [
    403,
    '[{"error":{"code":403,"message":"Requests to this API generativelanguage.googleapis.com are blocked.","status":"PERMISSION_DENIED","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_SERVICE_BLOCKED"}]}}]',
    'Requests to this API generativelanguage.googleapis.com are blocked.',
  ],
  [
    403,
    '<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head></html>',
    'an HTML page with the title "Attention Required! | Cloudflare"',
  ],
  [403, '', 'no further details'],
  [404, '{"type":"error","error":{"type":"not_found_error","message":"Not Found"}}', 'Not Found'],
  [404, '<html><title>Blocked by policy</title></html>', 'an HTML page with the title "Blocked by policy"'],
]

describe('a vendor error', () => {
  it.each(answers)('means %s with status %i and body %j', (kind, status, body) => {
    const error = classifyVendorError({ message: 'no details', ...readVendorError(body), status }, target)
    expect(error).toMatchObject({ reason: kind, status })
  })

  it('tells a missing key, an unreachable vendor and a refused model apart [PROV-013]', () => {
    const body = { type: 'error', error: { type: 'authentication_error', message: 'x-api-key header is required' } }
    const vendor = { message: '', ...readVendorError(body), status: 401 }
    const missing = classifyVendorError(vendor, { ...target, hasKey: false })
    const unreachable = makeModelError('ProviderUnreachable', target, { message: 'no such host name (ENOTFOUND)' })
    const refused = classifyVendorError({ message: 'model: model-1', type: 'not_found_error', status: 404 }, target)
    expect(missing).toMatchObject({
      reason: 'MissingApiKey',
      message: expect.stringMatching(/has no API key; set spec\.secretRef/),
    })
    expect(unreachable.message).toBe(
      'Provider default/vendor is unreachable at vendor.example; check its address and the network: no such host name (ENOTFOUND)',
    )
    expect(refused.message).toMatch(/refused the model "model-1"/)
  })

  it.each(blocks)('of %i with %j blames neither the key nor the address alone', (status, text, words) => {
    const refusal = { status, headers: new Headers(), text, url: 'https://vendor.example/v1/chat', now: new Date(0) }
    const { reason, message } = readVendorRefusal(refusal, target)
    expect(reason).toBe(status === 403 ? 'CredentialRefused' : 'WrongAddress')
    expect(message).not.toContain('refused the API key')
    expect(message).toMatch(status === 403 ? /check the key, what it may use, and/ : /check spec\.baseURL and/)
    expect(message).toMatch(/whether the vendor serves.* region/)
    expect(message).toContain(words)
    const keyless = readVendorRefusal(refusal, { ...target, hasKey: false })
    expect(keyless.message).toMatch(/whether the vendor serves.* region/)
  })

  it('of an area that is not served, inside a stream, is no failure to try again', () => {
    const error = {
      code: 'unsupported_country_region_territory',
      message: 'Country, region, or territory not supported',
    }
    const { reason, message } = classifyVendorError(error, target)
    expect(reason).toBe('CredentialRefused')
    expect(message).toContain('refused access')
  })

  it.each([
    { status: 401, type: 'forbidden' },
    { status: 403, type: 'authentication_error' },
    { status: 403, code: 'invalid_api_key' },
  ])('of the key itself (%j) says so', (error) => {
    expect(classifyVendorError({ ...error, message: 'no' }, target).message).toContain('refused the API key; check')
  })

  it('of a spent quota is not worth a short wait', () => {
    const error = classifyVendorError({ message: 'quota', code: 'insufficient_quota', status: 429 }, target)
    expect(error.retryAfterMs).toBe(600_000)
  })
})

describe('Retry-After', () => {
  const now = new Date('2030-01-01T00:00:00Z')

  it.each([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Tue, 01 Jan 2030 00:00:09 GMT' }, 9000],
    [{ 'retry-after': 'Mon, 31 Dec 2029 23:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '1234', 'retry-after': '7' }, 1234],
    [{ 'retry-after': '-3' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('of %j is %s ms', (headers, expected) => {
    expect(readRetryAfter(new Headers(headers as Record<string, string>), now)).toBe(expected)
  })
})
