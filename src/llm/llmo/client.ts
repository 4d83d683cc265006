// Calls an llmo provider: the vendor, Azure, or a compatible server.
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import { trimTrailing } from '../../lib/trim.ts'
import type { Listener, ModelClient } from '../call/model-client.ts'
import { callVendor } from '../call/vendor-call.ts'
import { idleTimeoutFor, ownHeaders, plainHeaders, type VendorClientOptions } from '../call/vendor-request.ts'
import type { ModelEvent, ModelRequest } from '../messages/messages.ts'
import { originOf } from '../messages/seal.ts'
import { createDecoder } from './decode.ts'
import { adaptDialect, createDialects, guessDialect, type LlmoDialect } from './dialect.ts'
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

/** How many refusals of one request may teach another form of it. */
const maxForms = 4

export function createLlmoClient(options: VendorClientOptions): ModelClient {
  const { baseUrl, dialects = createDialects() } = options
  const address = baseUrl ?? vendorAddress
  const { model } = options.target
  const origin = originOf(address, model)
  const { onUnknown } = options
  const currentDialect = () => dialects.of(address) ?? guessDialect(baseUrl === undefined)

  /** Whether the server refused the form of the request, and there is another form to try. */
  function hasLearned(tried: LlmoDialect, returned: string[], event: ModelEvent | undefined): boolean {
    if (event?.type !== 'error' || event.error.reason !== 'RequestRefused') return false
    const { message } = event.error
    const learned = adaptDialect(tried, { model, message, returned })
    if (learned !== undefined) dialects.learn(address, learned)
    return learned !== undefined
  }

  /** `note` is told which fields of earlier turns the request contains. */
  function ask(
    request: ModelRequest,
    listener: Listener,
    { dialect, note }: { dialect: LlmoDialect; note?: (returned: string[]) => void },
  ): Promise<void> {
    const { maxTokensField, streamOptions } = dialect
    const refused = dialect.refused?.[model]
    const wanted = dialect.wanted?.[model]
    const wire = { model, maxTokensField, origin, ...dropUndefined({ refused, wanted }) }
    return callVendor({
      ...options,
      ...listener,
      idleTimeoutMs: idleTimeoutFor(request, options.idleTimeoutMs),
      url: completionsUrl(options),
      headers: { ...makeHeaders(options), ...ownHeaders(request, 'llmo') },
      encode: () => {
        const body: JsonObject = encodeRequest(request, wire)
        if (!streamOptions) delete body.stream_options
        note?.(listReturned(body))
        return body
      },
      decoder: createDecoder({ origin, ...(onUnknown && { onUnknown }) }),
    })
  }

  /** True when the refusal revealed another form to try; the caller does not see it. */
  async function learn(request: ModelRequest, { take, ...listener }: Listener): Promise<boolean> {
    const dialect = currentDialect()
    let begun = false
    let learned = false
    let returned: string[] = []
    const note = (fields: string[]) => {
      returned = fields
    }
    const takeUnlessLearned = (events: ModelEvent[]) => {
      learned = !begun && hasLearned(dialect, returned, events[0])
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
