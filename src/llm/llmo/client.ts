// Calls an llmo provider: the vendor, Azure, or a compatible server.
import type { JsonObject } from '../../lib/json.ts'
import type { Listener, ModelClient } from '../call/model-client.ts'
import { callVendor } from '../call/vendor-call.ts'
import { idleTimeoutFor, ownHeaders, plainHeaders, type VendorClientOptions } from '../call/vendor-request.ts'
import type { ModelEvent, ModelRequest } from '../messages/messages.ts'
import { createDecoder } from './decode.ts'
import { adaptDialect, createDialects, guessDialect, type LlmoDialect } from './dialect.ts'
import { encodeRequest } from './encode.ts'

export const vendorAddress = 'https://api.openai.com/v1'

function trimSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/**
 * Azure has the deployment in the path and the version in the query (vendor document: Azure REST API reference); its
 * responses API takes the deployment as the model, and its list of models is of the whole resource.
 */
export function endpointUrl(options: Pick<VendorClientOptions, 'azure' | 'baseUrl'>, endpoint: string): string {
  const base = trimSlash(options.baseUrl ?? vendorAddress)
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

export function createLlmoClient(options: VendorClientOptions): ModelClient {
  const { baseUrl, dialects = createDialects() } = options
  const address = baseUrl ?? vendorAddress
  const currentDialect = () => dialects.of(address) ?? guessDialect(baseUrl === undefined)

  /** Whether the server refused the form of the request, and there is another form to try. */
  function hasLearned(tried: LlmoDialect, event: ModelEvent | undefined): boolean {
    if (event?.type !== 'error' || event.error.reason !== 'RequestRefused') return false
    const learned = adaptDialect(tried, event.error.message)
    if (learned !== undefined) dialects.learn(address, learned)
    return learned !== undefined
  }

  function ask(request: ModelRequest, listener: Listener, dialect: LlmoDialect): Promise<void> {
    const { maxTokensField, streamOptions } = dialect
    return callVendor({
      ...options,
      ...listener,
      idleTimeoutMs: idleTimeoutFor(request, options.idleTimeoutMs),
      url: completionsUrl(options),
      headers: { ...makeHeaders(options), ...ownHeaders(request, 'llmo') },
      encode: () => {
        const body: JsonObject = encodeRequest(request, { model: options.target.model, maxTokensField })
        if (!streamOptions) delete body.stream_options
        return body
      },
      decoder: createDecoder(),
    })
  }

  /** True when the refusal revealed another form to try; the caller does not see it. */
  async function learn(request: ModelRequest, { take, ...listener }: Listener): Promise<boolean> {
    const dialect = currentDialect()
    let begun = false
    let learned = false
    const takeUnlessLearned = (events: ModelEvent[]) => {
      learned = !begun && hasLearned(dialect, events[0])
      begun = true
      return learned ? undefined : take(events)
    }
    await ask(request, { ...listener, take: takeUnlessLearned }, dialect)
    return learned
  }

  return {
    async call(request, listener) {
      for (let tries = 0; tries < 2; tries += 1) {
        if (!(await learn(request, listener))) return
      }
      await ask(request, listener, currentDialect())
    },
  }
}
