// The import table of the house: which room may know which.
import { describe, expect, it } from 'vitest'
import { type Import, listFiles, listImports, readSource } from './source-tree.ts'

const everyone = ['errors', 'lib', 'observability']

/** Room -> rooms it may import. `compose` may see everything; the three programs see it and how they are started. */
const table: Record<string, string[]> = {
  errors: [],
  lib: [],
  observability: [],
  contract: [],
  rules: ['contract'],
  ports: ['contract'],
  lookup: ['rules', 'ports', 'contract'],
  egress: ['ports', 'contract', 'rules'],
  client: ['contract'],
  config: ['contract'],
  llm: ['contract', 'ports', 'egress'],
  tools: ['rules', 'ports', 'contract', 'egress'],
  usecases: ['lookup', 'rules', 'ports', 'llm', 'tools', 'contract'],
  proxy: ['usecases', 'lookup', 'rules', 'ports', 'llm', 'tools', 'contract'],
  controllers: ['lookup', 'rules', 'ports', 'contract', 'egress'],
  http: ['usecases', 'proxy', 'ports', 'contract', 'llm'],
  store: ['ports', 'contract', 'rules'],
  cluster: ['store', 'ports', 'contract', 'rules'],
  runtime: ['cluster', 'ports', 'contract', 'rules'],
  git: ['ports', 'contract'],
  codehost: ['ports', 'contract'],
  auth: ['store', 'ports', 'contract', 'rules'],
  service: ['config', 'contract', 'ports', 'http'],
  terminal: ['client', 'config'],
  launch: ['client', 'config', 'terminal', 'store'],
  upkeep: ['client', 'config', 'launch', 'terminal', 'store', 'runtime'],
  agents: ['contract'],
  worker: ['agents', 'llm', 'tools', 'ports', 'contract', 'client'],
  cli: ['contract', 'client', 'rules'],
  programs: ['compose', 'launch'],
}

function roomOf(path: string): string {
  const [, room, ...rest] = path.split('/')
  if (rest.length > 0) return room ?? ''
  return room === 'errors.ts' ? 'errors' : 'programs'
}

/** The same for `dashboard/src`. Views are rooms of their own, which know `views/objects` and no other of them. */
const dashboardTable: Record<string, string[]> = {
  session: [],
  data: ['session'],
  parts: ['session', 'data'],
  'sign-in': ['session', 'data', 'parts'],
  app: ['session', 'data', 'parts', 'sign-in'],
  styles: [],
  views: ['session', 'data', 'parts', 'views/objects'],
  programs: ['app', 'parts', 'session', 'sign-in', 'styles', 'views'],
}

function dashboardRoomOf(path: string): string {
  const [, , room = '', ...rest] = path.split('/')
  if (rest.length === 0) return 'programs'
  return room === 'views' ? `views/${rest[0]}` : room
}

const groupOf = (room: string) => (room.startsWith('views/') ? 'views' : room)

const isWithin = (path: string, folder: string) => path.startsWith(`${folder}/`)

const sources = listFiles('src', ['.ts']).filter((path) => !path.endsWith('.test.ts'))
const imports = sources.flatMap(listImports)
const dashboardSources = listFiles('dashboard/src', ['.ts', '.tsx']).filter((path) => !path.includes('.test.'))
const dashboardImports = dashboardSources.flatMap(listImports)

function isAllowed({ from, to }: Import): boolean {
  const [here, there] = [roomOf(from), roomOf(to)]
  if (here === there || here === 'compose') return true
  return [...everyone, ...(table[here] ?? [])].includes(there)
}

describe('the import table', () => {
  it('lists every room', () => {
    const rooms = new Set(sources.map(roomOf))
    rooms.delete('compose')
    expect([...rooms].filter((room) => !(room in table))).toEqual([])
  })

  it('has the rooms that CONTRIBUTING.md describes', () => {
    const rows = readSource('CONTRIBUTING.md').matchAll(/^\| (`src\/[^|]*)\|/gm)
    const described = [...rows].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`src\/([\w.-]+)`/g)].map(([, name]) => name),
    )
    const rooms = described.map((name) => roomOf(`src/${name}${name?.includes('.') ? '' : '/'}`))
    expect([...new Set(rooms)].sort()).toEqual([...new Set(sources.map(roomOf))].sort())
  })

  it('allows every import that there is', () => {
    expect(imports.filter((entry) => !isAllowed(entry)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  it('lets http import ports as types only', () => {
    const values = imports.filter((i) => roomOf(i.from) === 'http' && roomOf(i.to) === 'ports' && !i.typeOnly)
    expect(values).toEqual([])
  })

  it('lets the edges know use cases through their index, types included', () => {
    const known = imports.filter(
      ({ from, to }) => ['http', 'compose'].includes(roomOf(from)) && roomOf(to) === 'usecases',
    )
    expect(known.length).toBeGreaterThan(0)
    expect(known.filter(({ to }) => to !== 'src/usecases/index.ts')).toEqual([])
  })

  it('keeps the vendor families in llm independent of each other', () => {
    const crossing = imports.filter((i) => /^src\/llm\/llma\//.test(i.from) && /^src\/llm\/llmo\//.test(i.to))
    expect(crossing).toEqual([])
  })

  it('lets the cluster know of the store only what every resource store shares', () => {
    const known = imports.filter(({ from, to }) => roomOf(from) === 'cluster' && roomOf(to) === 'store')
    expect(known.map(({ to }) => to).filter((to) => !to.startsWith('src/store/watching/'))).toEqual([])
    const beyond = imports.filter(({ from, to }) => isWithin(from, 'src/store/watching') && roomOf(to) === 'store')
    expect(beyond.map(({ to }) => to).filter((to) => !isWithin(to, 'src/store/watching'))).toEqual([])
  })

  it('keeps the ways to run an attempt independent of each other, and shared code independent of both', () => {
    const ways = {
      machine: ['local', 'folders', 'host'],
      cluster: ['jobs', 'code-pods', 'pod-programs', 'agent-sandbox'],
      shared: ['attempts'],
    }
    const wayOf = (path: string) =>
      Object.entries(ways).find(([, folders]) => folders.some((name) => isWithin(path, `src/runtime/${name}`)))?.[0]
    const crossing = imports.filter(({ from, to }) => {
      const [here, there] = [wayOf(from), wayOf(to)]
      return here !== undefined && there !== undefined && here !== there && there !== 'shared'
    })
    expect(crossing).toEqual([])
  })

  it('loads nothing of embedded mode in Kubernetes mode', () => {
    const loaded = listLoaded('src/compose/kubernetes.ts')
    expect(loaded).toContain('src/runtime/jobs/workloads.ts')
    expect(loaded.filter((path) => isWithin(path, 'src/runtime/local'))).toEqual([])
  })

  it('loads no schemas of resources into a worker, whose start each task pays for', () => {
    const loaded = listLoaded('src/worker/run-assignment.ts')
    expect(loaded).toContain('src/contract/api/tasks/internal.ts')
    const schemas = [
      'kinds/index.ts',
      'kinds/tasks/task.ts',
      'kinds/agents/agent.ts',
      'kinds/tools/tool.ts',
      'api/tasks/tasks.ts',
    ]
    const paths = schemas.map((name) => `src/contract/${name}`)
    expect(paths.filter((path) => !sources.includes(path))).toEqual([])
    expect(loaded.filter((path) => paths.includes(path))).toEqual([])
  })

  it('lets the dashboard know the contract, the client and the small tools of the service, and nothing else of it', () => {
    const known = /^src\/(contract|client|lib)\/|^src\/errors\.ts$/
    expect(dashboardImports.length).toBeGreaterThan(0)
    expect(dashboardImports.filter(({ to }) => to.startsWith('src/') && !known.test(to))).toEqual([])
  })

  it('allows every import within the dashboard that there is', () => {
    const isAllowedThere = ({ from, to }: Import) => {
      const [here, there] = [dashboardRoomOf(from), dashboardRoomOf(to)]
      const allowed = dashboardTable[groupOf(here)] ?? []
      return here === there || allowed.includes(there) || (here === 'programs' && allowed.includes(groupOf(there)))
    }
    const within = dashboardImports.filter(({ to }) => to.startsWith('dashboard/src/'))
    expect(within.filter((entry) => !isAllowedThere(entry)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  it('has no cycles', () => {
    expect(findCycle([...imports, ...dashboardImports])).toBeUndefined()
  })

  it('is complete: every relative import names a file of the tree', () => {
    const known = new Set(listFiles('src', ['.ts']))
    expect(imports.filter((i) => !known.has(i.to)).map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })
})

/** The file and every file that it loads, directly or by others. */
function listLoaded(path: string, loaded = new Set([path])): string[] {
  for (const { from, to, typeOnly } of imports) {
    if (from !== path || typeOnly || loaded.has(to)) continue
    loaded.add(to)
    listLoaded(to, loaded)
  }
  return [...loaded]
}

/** The first cycle, of types as well as values, as a list of files. */
function findCycle(edges: Import[]): string[] | undefined {
  const graph = Map.groupBy(edges, (edge) => edge.from)
  const done = new Set<string>()
  function visit(node: string, path: string[]): string[] | undefined {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return undefined
    for (const edge of graph.get(node) ?? []) {
      const found = visit(edge.to, [...path, node])
      if (found) return found
    }
    done.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const found = visit(node, [])
    if (found) return found
  }
  return undefined
}
