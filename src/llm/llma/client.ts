// Calls an llma provider.

import type { ClientOptions } from '../client-options.ts'
import type { ModelClient } from '../model.ts'
import { callVendor } from '../vendor-call.ts'
import { createDecoder } from './decode.ts'
import { encodeRequest } from './encode.ts'

export const vendorAddress = 'https://api.anthropic.com'
/** The version of the wire format this codec reads; the vendor keeps it apart from the models. */
const wireVersion = '2023-06-01'

/** Accepts an address with or without the `/v1` that official clients add themselves. */
function messagesUrl(baseUrl: string): string {
  const base = baseUrl.replace(/\/+$/, '')
  return base.endsWith('/v1') ? `${base}/messages` : `${base}/v1/messages`
}

export function createLlmaClient(options: ClientOptions): ModelClient {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'anthropic-version': wireVersion }
  if (options.apiKey !== undefined) headers['x-api-key'] = options.apiKey
  return {
    async *stream(request, signal) {
      yield* callVendor({
        ...options,
        url: messagesUrl(options.baseUrl ?? vendorAddress),
        headers,
        encode: () => encodeRequest(request, options.target.model),
        decoder: createDecoder(),
        signal,
      })
    },
  }
}
