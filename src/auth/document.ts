// Reads a small JSON document of an issuer that the operator configured: bounded in size and time, never redirected.
import { SvcError } from '../errors.ts'
import { readWhole } from '../lib/bounded-body.ts'
import { isJsonObject } from '../lib/json.ts'

const maxDocumentBytes = 1_048_576
const timeoutMs = 5_000

export type FetchLike = (url: string, init: RequestInit) => Promise<Response>

export type DocumentOptions = { fetch?: FetchLike; init?: RequestInit; timeoutMs?: number; signal?: AbortSignal }

/** Status and text of the answer; rejects unless it arrives completely, in time, and from this very address. */
export async function fetchText(url: string, options: DocumentOptions = {}): Promise<{ status: number; text: string }> {
  const send = options.fetch ?? fetch
  const limit = AbortSignal.timeout(options.timeoutMs ?? timeoutMs)
  const response = await send(url, {
    ...options.init,
    redirect: 'error',
    signal: options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]),
  })
  const tooLarge = () => new Error(`the answer has more than ${maxDocumentBytes} bytes`)
  const body = await readWhole(response.body, maxDocumentBytes, tooLarge)
  return { status: response.status, text: body.toString('utf8') }
}

/** The object at the address. Unavailable when it cannot be fetched; the cause has the reason, for the log. */
export async function fetchObject(url: string, options: DocumentOptions = {}): Promise<Record<string, unknown>> {
  try {
    const { status, text } = await fetchText(url, { ...options, init: { headers: { accept: 'application/json' } } })
    if (status !== 200) throw new Error(`status ${status}`)
    const value: unknown = JSON.parse(text)
    if (isJsonObject(value)) return value
    throw new Error('the answer is not an object')
  } catch (cause) {
    throw new SvcError('Unavailable', 'the issuer of the token cannot be reached: try again later', { cause })
  }
}
