// Calls an llma provider.
import { trimTrailing } from '../../lib/trim.ts'
import type { ModelClient } from '../call/model-client.ts'
import { callVendor } from '../call/vendor-call.ts'
import { idleTimeoutFor, ownHeaders, plainHeaders, type VendorClientOptions } from '../call/vendor-request.ts'
import { vendorOriginOf } from '../messages/seal.ts'
import { createDecoder } from './decode.ts'
import { encodeRequest } from './encode.ts'

export const vendorAddress = 'https://api.anthropic.com'
/** The version of the wire format that this codec reads; it is independent of the models. */
export const wireVersion = '2023-06-01'

/** Accepts an address with or without the `/v1` that official clients append. */
export function endpointUrl(baseUrl: string | undefined, endpoint: string): string {
  const base = trimTrailing(baseUrl ?? vendorAddress, '/')
  return base.endsWith('/v1') ? `${base}/${endpoint}` : `${base}/v1/${endpoint}`
}

export function createLlmaClient(options: VendorClientOptions): ModelClient {
  const headers: Record<string, string> = { ...plainHeaders, 'anthropic-version': wireVersion }
  if (options.apiKey !== undefined) headers['x-api-key'] = options.apiKey
  const { onUnknown } = options
  const { model } = options.target
  const origin = vendorOriginOf(options.baseUrl ?? vendorAddress, model)
  return {
    call: (request, listener) =>
      callVendor({
        ...options,
        ...listener,
        idleTimeoutMs: idleTimeoutFor(request, options.idleTimeoutMs),
        url: endpointUrl(options.baseUrl, 'messages'),
        headers: { ...headers, ...ownHeaders(request, 'llma') },
        encode: () => encodeRequest(request, model, origin),
        decoder: createDecoder({ origin, ...(onUnknown && { onUnknown }) }),
      }),
  }
}
