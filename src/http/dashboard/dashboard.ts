// Serves the dashboard: its page for what browsers ask for outside the API (HTTP-019), and its files.
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { routes } from '../../contract/api/index.ts'
import { contentTypeOf } from '../../contract/values/content-type.ts'
import { SvcError } from '../../errors.ts'
import { addVary, chooseCoding, chooseType } from '../middleware/accept.ts'
import { matchesTag } from '../middleware/conditional.ts'

export type DashboardSettings = {
  /** The built dashboard. */
  folder: string
  /** Origins that its page may call besides the service itself. */
  connectOrigins?: readonly string[]
}

/** Answers a request that no route accepts, and returns true; false when it is not for the dashboard. */
export type Dashboard = (request: FastifyRequest, reply: FastifyReply) => boolean

const partsOf = (path: string) => path.toLowerCase().split(/[/\\]/).slice(1)

/** Where the service has other things; a page there would hide that a path is wrong. */
const taken = new Set(['', ...routes.map(({ path }) => partsOf(path)[0])])

function canBePage(path: string): boolean {
  const parts = partsOf(path)
  return path === '/' || (!taken.has(parts[0] ?? '') && !parts.includes('.') && !parts.includes('..'))
}

/** Without the query. The framework has refused paths that cannot be decoded. */
const pathOf = (target: string) => decodeURIComponent(target.split('?', 1)[0] ?? '')

const notBuilt = () =>
  new SvcError('NotFound', 'the dashboard is not built: run npm run build in the folder of the program')

function refuseOtherMethods({ method }: FastifyRequest, path: string, reply: FastifyReply): void {
  if (method === 'GET' || method === 'HEAD') return
  reply.header('allow', 'GET, HEAD')
  throw new SvcError('MethodNotAllowed', `${method} is not a method of ${path}; use GET or HEAD`)
}

function isPageWanted({ method, headers }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD'
  return isRead && chooseType(headers.accept, ['application/json', 'text/html']) === 'text/html'
}

function sendFile(file: DashboardFile, request: FastifyRequest, reply: FastifyReply): void {
  const offers = Object.keys(file.compressed) as Coding[]
  const coding = chooseCoding(request.headers['accept-encoding'], offers)
  const { body, tag } = (coding && file.compressed[coding]) ?? file.plain
  addVary(reply, 'Accept-Encoding')
  reply.headers({ 'cache-control': file.cacheControl, etag: tag })
  if (matchesTag(request.headers['if-none-match'], tag)) return void reply.code(304).send()
  if (coding !== undefined) reply.header('content-encoding', coding)
  reply.header('content-type', file.contentType).send(body)
}

export function createDashboard({ folder, connectOrigins = [] }: DashboardSettings): Dashboard {
  const headers = pageHeadersOf(connectOrigins)
  let known: DashboardFiles | undefined
  // On first use: a start does not wait for it, and a dashboard that is built later is found.
  const read = () => {
    known ??= readDashboard(folder)
    return known
  }
  const send = (file: DashboardFile, request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(headers)
    sendFile(file, request, reply)
    return true
  }
  return (request, reply) => {
    const path = pathOf(request.url)
    if (!canBePage(path)) return false
    const file = read()?.get(path)
    if (file !== undefined) {
      refuseOtherMethods(request, path, reply)
      return send(file, request, reply)
    }
    if (`${path}/`.startsWith(assetsPath) || !isPageWanted(request)) return false
    const index = read()?.get(indexPath)
    if (index === undefined) throw notBuilt()
    addVary(reply, 'Accept')
    return send(index, request, reply)
  }
}

/** Content codings in the order of preference, and the ending of their files. */
export const codings = { br: '.br', gzip: '.gz' } as const
export type Coding = keyof typeof codings

type Form = { body: Buffer; tag: string }

export type DashboardFile = {
  contentType: string
  cacheControl: string
  plain: Form
  compressed: Partial<Record<Coding, Form>>
}

/** Path of a request (`/assets/index-1a2b.js`) to its file. */
export type DashboardFiles = ReadonlyMap<string, DashboardFile>

export const assetsPath = '/assets/'
export const indexPath = '/index.html'

/** The names of assets have a hash of what is in them. */
function cacheControlOf(path: string): string {
  return path.startsWith(assetsPath) ? 'public, max-age=31536000, immutable' : 'no-cache'
}

/** A strong tag names one form (RFC 9110 section 8.8.3.3). */
function readForm(file: string): Form {
  const body = readFileSync(file)
  return { body, tag: `"${hash('sha1', body, 'base64url')}"` }
}

function readFile(file: string, path: string): DashboardFile {
  const compressed: DashboardFile['compressed'] = {}
  for (const [coding, ending] of Object.entries(codings)) {
    if (existsSync(file + ending)) compressed[coding as Coding] = readForm(file + ending)
  }
  return { contentType: contentTypeOf(file), cacheControl: cacheControlOf(path), plain: readForm(file), compressed }
}

/** Undefined when there is no built dashboard in the folder. */
export function readDashboard(folder: string): DashboardFiles | undefined {
  if (!existsSync(join(folder, indexPath))) return undefined
  const endings = Object.values(codings)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name))
  const pathOf = (file: string) => `/${relative(folder, file).split(sep).join('/')}`
  return new Map(files.map((file) => [pathOf(file), readFile(file, pathOf(file))]))
}

/** Sources of a policy, directive by directive; `connect` are origins besides the service's own. */
function policyOf(connect: readonly string[]): string {
  const directives = {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'img-src': ["'self'", 'data:', 'blob:'],
    'font-src': ["'self'"],
    'connect-src': ["'self'", ...connect],
    'manifest-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
    'require-trusted-types-for': ["'script'"],
  }
  return Object.entries(directives)
    .map(([name, sources]) => `${name} ${sources.join(' ')}`)
    .join('; ')
}

const unused = [
  'accelerometer',
  'camera',
  'display-capture',
  'geolocation',
  'gyroscope',
  'microphone',
  'payment',
  'usb',
]

/** They take the place of the headers for data. `connect`: origins of issuers where people sign in. */
export function pageHeadersOf(connect: readonly string[]): Readonly<Record<string, string>> {
  return {
    'content-security-policy': policyOf(connect),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': unused.map((feature) => `${feature}=()`).join(', '),
  }
}
