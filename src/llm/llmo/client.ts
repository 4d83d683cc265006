// Calls an llmo provider: the vendor, Azure, or a compatible server.
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import { trimTrailing } from '../../lib/trim.ts'
import type { Listener, ModelClient } from '../call/model-client.ts'
import { callVendor } from '../call/vendor-call.ts'
import { idleTimeoutFor, ownHeaders, plainHeaders, type VendorClientOptions } from '../call/vendor-request.ts'
import type { ModelEvent, ModelRequest } from '../messages/messages.ts'
import { vendorOriginOf } from '../messages/seal.ts'
import { createResponsesDecoder } from '../responses/decode-answer.ts'
import { toResponses } from '../responses/encode-request.ts'
import { createDecoder } from './decode.ts'
import { adaptDialect, createDialects, guessDialect, type LlmoDialect, type Refused } from './dialect.ts'
import { encodeRequest, listReturned } from './encode.ts'

export const vendorAddress = 'https://api.openai.com/v1'

/**
 * Azure has the deployment in the path and the version in the query (vendor document: Azure REST API reference); its
 * responses API takes the deployment as the model, and its list of models is of the whole resource.
 */
export function endpointUrl(options: Pick<VendorClientOptions, 'azure' | 'baseUrl'>, endpoint: string): string {
  const base = trimTrailing(options.baseUrl ?? vendorAddress, '/')
  if (options.azure === undefined) return `${withVersion(base)}/${endpoint}`
  const { deploymentName, apiVersion } = options.azure
  const root = base.replace(/\/openai$/, '')
  const version = new URLSearchParams({ 'api-version': apiVersion })
  if (endpoint === 'responses' || endpoint === 'models') return `${root}/openai/${endpoint}?${version}`
  return `${root}/openai/deployments/${encodeURIComponent(deploymentName)}/${endpoint}?${version}`
}

function responsesUrl(options: Pick<VendorClientOptions, 'azure' | 'baseUrl'>): string {
  return endpointUrl(options, 'responses')
}

export function completionsUrl(options: Pick<VendorClientOptions, 'azure' | 'baseUrl'>): string {
  return endpointUrl(options, 'chat/completions')
}

/** An address without a path is a server's root, whose API is by convention below `/v1`. */
function withVersion(base: string): string {
  return URL.parse(base)?.pathname === '/' ? `${base}/v1` : base
}

function makeHeaders(options: VendorClientOptions): Record<string, string> {
  const headers: Record<string, string> = { ...plainHeaders }
  if (options.apiKey === undefined) return headers
  if (options.azure === undefined) headers.authorization = `Bearer ${options.apiKey}`
  else headers['api-key'] = options.apiKey
  return headers
}

/** The body in the form that a model of this server knows. */
function withoutUnknown(body: JsonObject, dialect: LlmoDialect, model: string): JsonObject {
  const known = { ...body }
  if (!dialect.streamOptions) delete known.stream_options
  if (dialect.doors?.[model] === 'unreasoned' && known.tools !== undefined) known.reasoning_effort = 'none'
  for (const field of dialect.unknown?.[model] ?? []) delete known[field]
  return known
}

type Sent = Pick<Refused, 'returned' | 'fields'>

/** What a vendor may mean with a refusal of the form of a request. */
const formRefusals = new Set<CallFailure>(['RequestRefused', 'ModelNotFound', 'WrongAddress'])

/** How many refusals of one request may teach another form of it. */
const maxForms = 4

export function createLlmoClient(options: VendorClientOptions): ModelClient {
  const { baseUrl, dialects = createDialects() } = options
  const address = baseUrl ?? vendorAddress
  const { model } = options.target
  const origin = vendorOriginOf(address, model)
  const { onUnknown } = options
  const currentDialect = () => dialects.of(address) ?? guessDialect(baseUrl === undefined)

  /** Whether the server refused the form of the request, and there is another form to try. */
  function hasLearned(tried: LlmoDialect, sent: Sent, event: ModelEvent | undefined): boolean {
    if (event?.type !== 'error' || !formRefusals.has(event.error.reason)) return false
    const { message, status } = event.error
    const learned = adaptDialect(tried, { model, message, status, ...sent })
    if (learned !== undefined) dialects.learn(address, learned)
    return learned !== undefined
  }

  /** `note` is told what the request contains. */
  function ask(
    request: ModelRequest,
    listener: Listener,
    { dialect, note }: { dialect: LlmoDialect; note?: (sent: Sent) => void },
  ): Promise<void> {
    const { maxTokensField } = dialect
    const refused = dialect.refused?.[model]
    const wanted = dialect.wanted?.[model]
    const door = dialect.doors?.[model]
    const wire = { model, maxTokensField, origin, ...dropUndefined({ refused, wanted }) }
    return callVendor({
      ...options,
      ...listener,
      idleTimeoutMs: idleTimeoutFor(request, options.idleTimeoutMs),
      url: door === 'responses' ? responsesUrl(options) : completionsUrl(options),
      headers: { ...makeHeaders(options), ...ownHeaders(request, 'llmo') },
      encode: () => {
        const body = withoutUnknown(encodeRequest(request, wire), dialect, model)
        note?.({ returned: listReturned(body), fields: Object.keys(body) })
        return door === 'responses' ? toResponses(body) : body
      },
      decoder: (door === 'responses' ? createResponsesDecoder : createDecoder)({
        origin,
        ...(onUnknown && { onUnknown }),
      }),
    })
  }

  /** True when the refusal revealed another form to try; the caller does not see it. */
  async function learn(request: ModelRequest, { take, ...listener }: Listener): Promise<boolean> {
    const dialect = currentDialect()
    let begun = false
    let learned = false
    let sent: Sent = { returned: [], fields: [] }
    const note = (noted: Sent) => {
      sent = noted
    }
    const takeUnlessLearned = (events: ModelEvent[]) => {
      learned = !begun && hasLearned(dialect, sent, events[0])
      begun = true
      return learned ? undefined : take(events)
    }
    await ask(request, { ...listener, take: takeUnlessLearned }, { dialect, note })
    return learned
  }

  return {
    async call(request, listener) {
      for (let tries = 0; tries < maxForms; tries += 1) {
        if (!(await learn(request, listener))) return
      }
      await ask(request, listener, { dialect: currentDialect() })
    },
  }
}
