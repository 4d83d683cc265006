// The only room that dials out for a user: address rules after DNS and on each redirect, size and time limits.
import type { Agent, Request, RequestInit, Response } from 'undici'
import { clientHeaders } from '../contract/values/client-headers.ts'
import { SvcError } from '../errors.ts'
import { abortable } from '../lib/abort.ts'
import { readBeginning } from '../lib/bounded-body.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { answerBuffers } from '../lib/buffer-quota.ts'
import type { Egress, EgressPolicy, EgressRequest, EgressResponse } from '../ports/service/egress.ts'
import { checkDestination } from './destination.ts'
import { createDialer, loadUndici, type Resolve, resolveName } from './dialer.ts'
import { explainFailure } from './failures.ts'
import { createPipes } from './pipe.ts'

export type EgressOptions = {
  /** Resolves names; default: the system's resolver. */
  resolve?: Resolve
}

const maxAgents = 64
const fetchRedirects = 5

export function createEgress(options: EgressOptions = {}): Egress {
  const resolve = options.resolve ?? resolveName
  const agents = new BoundedMap<string, Promise<Agent>>({
    max: maxAgents,
    onDrop: (agent) => void agent.then((old) => old.close()).catch(() => {}),
  })
  const pipes = createPipes(resolve)

  /** Connections are only shared under the same rules. */
  function agentFor(policy: EgressPolicy): Promise<Agent> {
    const key = JSON.stringify([policy.allowNetworks, policy.deny, policy.trusted, policy.via])
    const agent = agents.get(key) ?? createDialer(policy, resolve)
    agents.set(key, agent)
    return agent
  }

  const send: Send = async (hop, policy, signal) => {
    const [{ fetch }, dispatcher] = await Promise.all([loadUndici(), agentFor(policy)])
    const { method, headers, body = null } = hop
    return fetch(hop.url, { method, headers, body, redirect: 'manual', signal, dispatcher })
  }

  return {
    request: (request, signal) => requestWhole(request, signal, send),
    fetchWith: (policy) =>
      (async (input: FetchInput, init?: RequestInit) => {
        // Checked before the parser rewrites it: a disguised address is refused.
        const url = checkDestination(addressOf(input), policy)
        return fetchUnder(policy, { url, request: await readRequest(input, init) }, send)
      }) as typeof globalThis.fetch,
    openPipe: pipes.open,
    async close() {
      const open = [...agents]
      agents.clear()
      await pipes.close()
      await Promise.all(open.map(async ([, agent]) => (await agent).destroy()))
    },
  }
}

type Send = (hop: Hop, policy: EgressPolicy, signal: AbortSignal) => Promise<Response>

function cleanHeaders(headers: Iterable<[string, string]>): Record<string, string> {
  const entries = [...headers].map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(entries.filter(([name]) => !clientHeaders.includes(name)))
}

/** Sends the request and follows redirects, each checked again. */
async function sendFollowing(
  first: Hop,
  rules: { policy: EgressPolicy; maxRedirects: number; signal: AbortSignal },
  send: Send,
): Promise<{ response: Response; url: URL }> {
  let hop = first
  for (let left = rules.maxRedirects; ; left -= 1) {
    const response = await send(hop, rules.policy, rules.signal)
    const location = response.headers.get('location')
    if (!isRedirect(response.status) || location === null || rules.maxRedirects === 0) return { response, url: hop.url }
    await response.body?.cancel()
    if (left === 0)
      throw new SvcError('UpstreamFailed', `${first.url.host} redirects more than ${rules.maxRedirects} times.`)
    const target = checkDestination(URL.parse(location, hop.url.href)?.href ?? location, rules.policy)
    if (rules.policy.via !== undefined && target.host !== hop.url.host) {
      throw new SvcError('Forbidden', `${hop.url.host} redirects to ${target.host}, which is behind no router.`)
    }
    hop = followRedirect(hop, response.status, target)
  }
}

async function requestWhole(request: EgressRequest, signal: AbortSignal, send: Send): Promise<EgressResponse> {
  const url = checkDestination(request.url, request.policy)
  const timeout = AbortSignal.timeout(request.timeoutMs)
  const hop: Hop = {
    url,
    method: request.method,
    headers: cleanHeaders(Object.entries(request.headers ?? {})),
    body: request.body,
  }
  const rules = {
    policy: request.policy,
    maxRedirects: request.maxRedirects,
    signal: AbortSignal.any([signal, timeout]),
  }
  const buffer = answerBuffers.open()
  const makeRoom = (bytes: number) => {
    const room = buffer.add(bytes)
    return room && abortable(room, rules.signal)
  }
  try {
    const answer = await sendFollowing(hop, rules, send)
    const { body, truncated } = await readBeginning(answer.response.body, request.maxBytes, makeRoom)
    const headers = Object.fromEntries(answer.response.headers)
    return { url: answer.url.href, status: answer.response.status, headers, body, truncated }
  } catch (error) {
    signal.throwIfAborted()
    if (!timeout.aborted) throw explainFailure(error, url.host)
    throw new SvcError('UpstreamFailed', `${url.host} did not answer within ${request.timeoutMs / 1000} s.`, {
      cause: error,
    })
  } finally {
    buffer.release()
  }
}

type FetchInput = string | URL | globalThis.Request

function addressOf(input: FetchInput): string {
  return typeof input === 'string' ? input : input instanceof URL ? input.href : input.url
}

/** undici's own Request reads every kind of body; one made by the global class is taken apart first. */
async function readRequest(input: FetchInput, init: RequestInit | undefined): Promise<Request> {
  const { Request } = await loadUndici()
  if (typeof input === 'string' || input instanceof URL) return new Request(input, init)
  const { url, method, redirect, signal } = input
  const body = input.body === null ? null : await input.arrayBuffer()
  return new Request(url, { method, redirect, signal, body, headers: [...input.headers], ...init })
}

async function fetchUnder(policy: EgressPolicy, call: { url: URL; request: Request }, send: Send): Promise<Response> {
  const { url, request } = call
  const body = request.body === null ? undefined : await request.arrayBuffer()
  const hop: Hop = { url, method: request.method, headers: cleanHeaders(request.headers), body }
  const maxRedirects = request.redirect === 'follow' ? fetchRedirects : 0
  try {
    const { response } = await sendFollowing(hop, { policy, maxRedirects, signal: request.signal }, send)
    return response
  } catch (error) {
    request.signal.throwIfAborted()
    throw explainFailure(error, url.host)
  }
}

// What a redirect turns a request into (RFC 9110 section 15.4, and the fetch standard's method rules).

/** Header names are in lower case. */
type Hop = { url: URL; method: string; headers: Record<string, string>; body: string | ArrayBuffer | undefined }

const redirectStatuses = [301, 302, 303, 307, 308]

function isRedirect(status: number): boolean {
  return redirectStatuses.includes(status)
}

/** Headers that do not identify the caller: all that another origin gets to see. */
const plainHeaders = ['accept', 'accept-language', 'content-type', 'user-agent']
const bodyHeaders = ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location']

/** The next request. Credentials stay with the origin they are meant for. */
function followRedirect(hop: Hop, status: number, target: URL): Hop {
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
  const passed = Object.entries(hop.headers).filter(([name]) => {
    if (becomesGet && bodyHeaders.includes(name)) return false
    return !leavesOrigin || plainHeaders.includes(name)
  })
  return { url: target, method, headers: Object.fromEntries(passed), body }
}
