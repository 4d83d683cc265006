// What a redirect turns a request into (RFC 9110 section 15.4, and the fetch standard's method rules).
import { SvcError } from '../errors.ts'

/** Header names are in lower case. */
export type Hop = { url: URL; method: string; headers: Record<string, string>; body: string | ArrayBuffer | undefined }

const redirectStatuses = [301, 302, 303, 307, 308]

export function isRedirect(status: number): boolean {
  return redirectStatuses.includes(status)
}

/** Headers that do not identify the caller: all that another origin gets to see. */
const plainHeaders = ['accept', 'accept-language', 'content-type', 'user-agent']
const bodyHeaders = ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location']

/** The next request. Credentials stay with the origin they are meant for. */
export function followRedirect(hop: Hop, status: number, target: URL): Hop {
  const becomesGet = status === 303 ? hop.method !== 'HEAD' : status < 303 && hop.method === 'POST'
  const method = becomesGet ? 'GET' : hop.method
  const body = becomesGet ? undefined : hop.body
  const leavesOrigin = target.origin !== hop.url.origin
  // The body may hold a token (Tool spec.http.authInject: body).
  if (leavesOrigin && body !== undefined) {
    throw new SvcError(
      'Forbidden',
      `${hop.url.host} redirects to ${target.host}: a request body is not sent on to another host. Use the final address.`,
    )
  }
  const kept = Object.entries(hop.headers).filter(([name]) => {
    if (becomesGet && bodyHeaders.includes(name)) return false
    return !leavesOrigin || plainHeaders.includes(name)
  })
  return { url: target, method, headers: Object.fromEntries(kept), body }
}
