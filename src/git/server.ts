// A git server over "smart" HTTP (gitprotocol-http(5)), dialled by our egress: git itself sees neither the network nor
// the login.

import type { Egress, EgressPolicy } from '../ports/service/egress.ts'
import { type CheckoutCredentials, CheckoutError } from '../ports/workspaces/checkouts.ts'
import { endOfFlush, FrameError, readLines } from './pkt-lines.ts'

export type Service = 'git-upload-pack' | 'git-receive-pack'

export type ServerOptions = {
  /** As it is dialled. */
  url: string
  egress: Egress
  policy: EgressPolicy
  /** `origin`: of whom the login is. */
  login?: CheckoutCredentials & { origin: string }
}

export type Greeting = {
  /** What the server says first, as a program at the other end of a pipe would. */
  frames: Buffer
  lines: string[]
  /** Sends a request of this service, and gives what is answered. */
  post(body: Buffer, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
}

/** What a greeting may be long: a line for each of a million branches. */
const longestGreeting = 128 * 1024 ** 2

const agent = { 'user-agent': 'git/svc' }
/** GitHub and others take any name beside a token. */
const usualName = 'x-access-token'

export function loginHeaders(login: ServerOptions['login'], origin: string): Record<string, string> {
  if (login === undefined || login.origin !== origin) return {}
  const pair = Buffer.from(`${login.username ?? usualName}:${login.password}`).toString('base64')
  return { authorization: `Basic ${pair}` }
}

function refuse(status: number, where: { host: string; path: string; hasLogin: boolean; service: Service }) {
  const { host, path, hasLogin, service } = where
  const name = `${host}${path}`
  const right = service === 'git-receive-pack' ? 'write to it' : 'read it'
  if (status === 401 || status === 403) {
    const what = hasLogin
      ? `${host} refused the credentials for ${path}. Use a token that may ${right}.`
      : `${name} needs a login. Name a Secret with a token that may ${right}.`
    return new CheckoutError('LoginNeeded', what)
  }
  if (status === 404 || status === 410) {
    const more = hasLogin ? 'or the token may not see it' : 'or it needs a login: servers hide private repositories'
    return new CheckoutError('RepositoryMissing', `There is no repository ${name}, ${more}. Check the address.`)
  }
  return new CheckoutError('Unreachable', `${host} answered with status ${status}. Try again later.`)
}

async function readGreeting(response: Response, host: string): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    parts.push(part)
    size += part.byteLength
    if (size > longestGreeting) throw new CheckoutError('TooLarge', `${host} lists more branches than can be read.`)
  }
  return Buffer.concat(parts)
}

/** Without the line that only HTTP has: `# service=`, and a flush. */
function dropServiceLine(bytes: Buffer): Buffer {
  const isNamed = bytes.toString('latin1', 4, 13) === '# service'
  return isNamed ? bytes.subarray(endOfFlush(bytes) ?? 0) : bytes
}

function isSmart(response: Response, service: Service): boolean {
  return response.headers.get('content-type') === `application/x-${service}-advertisement`
}

const mostRedirects = 5

/** A repository may have moved. Whoever it moved to is sent the login only if it is of the same origin. */
async function follow(first: string, send: (address: string) => Promise<Response>) {
  let address = first
  for (let left = mostRedirects; ; left -= 1) {
    const response = await send(address)
    const target = URL.parse(response.headers.get('location') ?? '', address)
    if (response.status < 301 || response.status > 308 || target === null || left === 0) return { response, address }
    await response.body?.cancel()
    address = target.href
  }
}

/** The first exchange with a service of the server: fails when the repository cannot be used. */
export async function greetServer(options: ServerOptions, service: Service, signal: AbortSignal): Promise<Greeting> {
  const { egress, policy, login } = options
  const url = new URL(options.url)
  const send = egress.fetchWith(policy)
  const version: Record<string, string> = service === 'git-upload-pack' ? { 'git-protocol': 'version=2' } : {}
  const headersFor = (address: string) => ({ ...agent, ...version, ...loginHeaders(login, new URL(address).origin) })
  const first = `${url.href}/info/refs?service=${service}`
  const { response, address } = await follow(first, (to) =>
    send(to, { headers: headersFor(to), redirect: 'manual', signal }),
  )
  const where = { host: url.host, path: url.pathname, hasLogin: login?.origin === url.origin, service }
  if (response.status !== 200) throw await closed(response, refuse(response.status, where))
  const base = address.replace(/\/info\/refs\?.*$/, '')
  if (!isSmart(response, service) || base === address) throw await closed(response, noRepository(where))
  const frames = readFrames(await readGreeting(response, url.host), where)

  async function post(body: Buffer, until: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const kind = `application/x-${service}`
    const answer = await send(`${base}/${service}`, {
      method: 'POST',
      headers: {
        ...headersFor(base),
        'content-type': `${kind}-request`,
        accept: `${kind}-result`,
      },
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: until,
    })
    if (answer.status !== 200) throw await closed(answer, refuse(answer.status, where))
    return (answer.body ?? new Blob([]).stream()) as AsyncIterable<Uint8Array>
  }
  return { ...frames, post }
}

async function closed(response: Response, error: CheckoutError): Promise<CheckoutError> {
  await response.body?.cancel().catch(() => undefined)
  return error
}

function noRepository(where: { host: string; path: string }): CheckoutError {
  const message = `${where.host}${where.path} is not a git repository. Check the address.`
  return new CheckoutError('RepositoryMissing', message)
}

function readFrames(bytes: Buffer, where: { host: string; path: string }): { frames: Buffer; lines: string[] } {
  try {
    const frames = dropServiceLine(bytes)
    return { frames, lines: readLines(frames) }
  } catch (error) {
    if (error instanceof FrameError) throw noRepository(where)
    throw error
  }
}
