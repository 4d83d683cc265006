// The request of a tool that is plain HTTP; of an MCP tool its headers, time limit and token.

import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { field } from '../../schema/field.ts'
import { canBeFilled, listPlaceholders } from '../../values/address-placeholders.ts'
import { clientHeaders } from '../../values/client-headers.ts'
import { PositiveDuration } from '../../values/duration.ts'
import { SecretKeyRef, WebAddress } from '../resources/references.ts'

const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of an HTTP header')
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 9110 section 5.5 refuses them in field values
const headerValue = z.string().regex(/^[^\x00-\x08\x0a-\x1f\x7f]*$/, 'must not contain control characters')

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The request that a tool makes. */
export const ToolHttp = z.strictObject({
  url: field(
    WebAddress.optional(),
    'Address that each call is sent to. Names in braces in its path and query, such as `{city}`, stand for arguments of the call, which are then not sent again. Required unless `mcp` is set.',
    'https://api.example.com/weather/{city}',
  ),
  method: field(z.enum(httpMethods).default('POST'), 'HTTP method of the call.'),
  headers: field(
    z.record(headerName, headerValue).optional(),
    'Headers that each call carries. Those that the client sets itself, such as Host and Content-Length, cannot be among them.',
    {
      Accept: 'application/json',
    },
  ),
  timeout: field(PositiveDuration.default('30s'), 'Time limit of one call, as a duration.', '30s'),
  authSecretRef: field(SecretKeyRef.optional(), 'Entry of a Secret that holds the token of the tool.'),
  authInject: field(
    z.enum(['header', 'body']).default('header'),
    'How the token is sent: `header` as `Authorization: Bearer`, `body` inside the JSON body.',
  ),
  authBodyKey: field(
    z.string().max(256).optional(),
    'Key of the JSON body that holds the token, with `authInject: body`.',
    'api_key',
  ),
})
export type ToolHttp = z.infer<typeof ToolHttp>

type Properties = Record<string, unknown>

function addressProblems(url: string, properties: Properties): Problem[] {
  const path = 'http.url'
  const placed = listPlaceholders(url)
  if (placed.length > 0 && !canBeFilled(url)) {
    return [{ path, message: 'may have names in braces in its path and query only' }]
  }
  const unknown = placed.filter((name) => !Object.hasOwn(properties, name))
  return unknown.map((name) => ({ path, message: `has {${name}}, which is not among parameters.properties` }))
}

/** Headers that would not be sent as they are; `own`: those that the service sets beside the usual ones. */
export function headerProblems(
  { headers = {}, authSecretRef, authInject }: ToolHttp,
  own: readonly string[],
): Problem[] {
  const names = Object.keys(headers)
  const taken = new Map(names.map((name) => [name.toLowerCase(), name]))
  const sent = authSecretRef !== undefined && authInject === 'header'
  return names.flatMap((name) => {
    const plain = name.toLowerCase()
    const path = `http.headers[${JSON.stringify(name)}]`
    if (clientHeaders.includes(plain) || own.includes(plain))
      return [{ path, message: 'is set by the service itself; remove it' }]
    if (sent && plain === 'authorization') return [{ path, message: 'is set from authSecretRef; remove one of them' }]
    return taken.get(plain) === name ? [] : [{ path, message: 'is given twice; header names do not differ by case' }]
  })
}

/** `properties`: the tool's parameters. Paths are relative to the spec of the tool. */
export function httpProblems(http: ToolHttp | undefined, properties: Properties): Problem[] {
  const problems =
    http?.url === undefined
      ? [{ path: 'http.url', message: 'is required for a tool without mcp' }]
      : addressProblems(http.url, properties)
  if (http !== undefined) problems.push(...headerProblems(http, []))
  if (http?.authInject !== 'body') return problems
  if (http.authBodyKey === undefined || http.authBodyKey === '') {
    problems.push({ path: 'http.authBodyKey', message: 'is required when authInject is body' })
  }
  if (http.method === 'GET') {
    problems.push({ path: 'http.authInject', message: 'must be header for method GET, which sends no body' })
  }
  return problems
}
