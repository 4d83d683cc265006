// Serves the dashboard: its page for what browsers ask for outside the API (HTTP-019), and its files.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { routes } from '../../contract/api/index.ts'
import { SvcError } from '../../errors.ts'
import { chooseCoding, chooseType } from '../middleware/accept.ts'
import { matchesTag } from '../middleware/conditional.ts'
import { addVary } from '../middleware/vary.ts'
import { assetsPath, type Coding, type DashboardFile, type DashboardFiles, indexPath, readDashboard } from './files.ts'
import { pageHeadersOf } from './headers.ts'

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
