// A git server over "smart" HTTP (gitprotocol-http(5)), dialled by our egress: git itself sees neither the network nor
// the login. What git writes to a pipe becomes requests, and answers become what it reads.
import type { Duplex } from 'node:stream'
import { readWhole } from '../lib/bounded-body.ts'
import type { Egress, EgressPolicy } from '../ports/service/egress.ts'
import { type CheckoutCredentials, CheckoutError } from '../ports/workspaces/checkouts.ts'
import type { Remote } from './command.ts'
import { endOfFlush, FrameError, flush, readPktLines } from './pkt-lines.ts'

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
const maxGreetingBytes = 128 * 1024 ** 2

const agent = { 'user-agent': 'git/svc' }
/** GitHub and others take any name beside a token. */
const defaultUserName = 'x-access-token'

export function loginHeaders(login: ServerOptions['login'], origin: string): Record<string, string> {
  if (login === undefined || login.origin !== origin) return {}
  const pair = Buffer.from(`${login.username ?? defaultUserName}:${login.password}`).toString('base64')
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
    if (size > maxGreetingBytes) throw new CheckoutError('TooLarge', `${host} lists more branches than can be read.`)
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

const maxRedirects = 5

/** A repository may have moved. Whoever it moved to is sent the login only if it is of the same origin. */
async function follow(first: string, send: (address: string) => Promise<Response>) {
  let address = first
  for (let left = maxRedirects; ; left -= 1) {
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
  const base = address.replace(/\/info\/refs\?[\s\S]*$/, '')
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
    return { frames, lines: readPktLines(frames) }
  } catch (error) {
    if (error instanceof FrameError) throw noRepository(where)
    throw error
  }
}

const flushLength = 4
/** The wants and haves of a fetch: a line for each. */
const maxRequestBytes = 64 * 1024 ** 2

async function write(pipe: Duplex, chunk: Uint8Array): Promise<void> {
  if (pipe.destroyed || pipe.write(chunk)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      pipe.off('drain', go).off('close', go)
      resolve()
    }
    pipe.on('drain', go).on('close', go)
  })
}

/** Requests of protocol version 2: each ends with a flush, and none depends on those before. */
async function* readRequests(pipe: Duplex): AsyncGenerator<Buffer> {
  let buffered = Buffer.alloc(0)
  for await (const chunk of pipe as AsyncIterable<Buffer>) {
    buffered = Buffer.concat([buffered, chunk])
    for (let end = endOfFlush(buffered); end !== undefined; end = endOfFlush(buffered)) {
      yield buffered.subarray(0, end)
      buffered = buffered.subarray(end)
    }
    if (buffered.length > maxRequestBytes)
      throw new CheckoutError('TooLarge', 'The history of the repository is too long.')
  }
}

function tooLarge(bytes: number): CheckoutError {
  const message = `The repository is larger than the limit of ${bytes} bytes. Raise the limit, or use a smaller one.`
  return new CheckoutError('TooLarge', message)
}

/** For `git fetch`. At most `bytes` are answered. */
export function bridgeFetch(greeting: Greeting, bytes: number, signal: AbortSignal): Remote {
  return async (pipe) => {
    let left = bytes
    const answer = async (request: Buffer) => {
      let end = Buffer.alloc(0)
      for await (const chunk of await greeting.post(request, signal)) {
        left -= chunk.byteLength
        if (left < 0) throw tooLarge(bytes)
        await write(pipe, chunk)
        end = Buffer.concat([end, chunk.subarray(-flushLength)]).subarray(-flushLength)
      }
      return end.equals(flush)
    }
    await write(pipe, greeting.frames)
    for await (const request of readRequests(pipe)) {
      // A lone flush ends the conversation; so does a server that stops before the end of its answer.
      if (request.length === flushLength || !(await answer(request))) break
    }
    pipe.end()
  }
}

/** For `git push`: all that git writes is one request. */
export function bridgePush(greeting: Greeting, bytes: number, signal: AbortSignal): Remote {
  return async (pipe) => {
    await write(pipe, greeting.frames)
    const tooLarge = () => new CheckoutError('TooLarge', `The change is larger than ${bytes} bytes. Push less at once.`)
    const request = await readWhole(pipe, bytes, tooLarge)
    // Only a flush: git found nothing to send, or refused to.
    if (request.length > flushLength) {
      for await (const chunk of await greeting.post(request, signal)) await write(pipe, chunk)
    }
    pipe.end()
  }
}
