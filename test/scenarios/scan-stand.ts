// A service with a scripted model and a git server, for scenarios of repository scans.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Finding, PatchProposal } from '../../src/contract/api/scans/findings.ts'
import type { ReviewSlice, ScanRun } from '../../src/contract/api/scans/runs.ts'
import type { RepositoryScan } from '../../src/contract/kinds/scans/repository-scan.ts'
import { addCommit, type Entries, git } from '../fixtures/git/repository.ts'
import { startGitServer } from '../fixtures/git/server.ts'
import { readText, startVendor, type VendorAnswer, type VendorRequest } from '../fixtures/llm/scripted-vendor.ts'
import { waitFor } from '../fixtures/time.ts'
import { removeFolder, type Service, startService } from './service.ts'

const password = 'made-up-git-password-0002'
const flags = ['--allow-network', '127.0.0.0/8']
export const base = '/api/v1/security'

export const weak = (name: string) =>
  `package ${name}\n\nfunc Login(db DB, user string) {\n\tdb.Query("select * from users where name = '" + user + "'")\n}\n`
export const shop: Entries = {
  'README.md': '# Shop\n',
  'go.mod': 'module example.com/shop\n',
  'auth/login.go': weak('auth'),
  'pay/pay.go': weak('pay'),
}

export const say = (value: unknown): VendorAnswer => [
  { text: typeof value === 'string' ? value : JSON.stringify(value) },
]

/** A review that finds the weakness in each of the files. */
export function report(sliceId: string, paths: readonly string[]) {
  const findings = paths.map((path) => ({
    title: `SQL injection in ${path}`,
    category: 'sql-injection',
    severity: 'high',
    confidence: 'high',
    summary: 'The name of the user goes into the statement as it is: any caller reads and changes every account.',
    remediation: 'Use parameters.',
    evidence: [{ path, startLine: 4, endLine: 4, symbol: 'Login', quote: weak('x').split('\n')[3]?.trim() }],
  }))
  return { schemaVersion: 2, scan: { sliceId, summary: 'read' }, findings }
}

type Said = VendorAnswer | Promise<VendorAnswer>

/** What the model says; changed by tests. */
export type Script = {
  threatModel: () => Said
  /** Of a slice, by the path of a file in it; absent: it finds nothing. */
  reviews: Map<string, (sliceId: string) => Said>
  /** About a finding that it validates or repairs, turn by turn; the last one counts. */
  works: Record<'Validate' | 'Repair', ((id: string, turn: number) => Said)[]>
}

function answer(script: Script, { messages }: VendorRequest): Said {
  const prompt = readText(messages.findLast(({ role }) => role === 'user')?.content)
  if (prompt.startsWith('Write a threat model')) return script.threatModel()
  const turn = messages.filter(({ role }) => role === 'assistant').length
  const [, work, id = ''] = /^(Validate|Repair) finding (fnd_\w+)/.exec(prompt) ?? []
  if (work === 'Validate' || work === 'Repair') return script.works[work].at(-1)?.(id, turn) ?? say('no script')
  const sliceId = /Review slice (slice_\w+)/.exec(prompt)?.[1] ?? ''
  const scripts = [...script.reviews].filter(([path]) => prompt.includes(`file "${path}" (owned`))
  return scripts[0]?.[1](sliceId) ?? say(report(sliceId, []))
}

const noScript = (): Script => ({
  threatModel: () => say('# Threat model\n\nCallers of the shop.'),
  reviews: new Map(),
  works: { Validate: [], Repair: [] },
})

export type ScanStand = Awaited<ReturnType<typeof openScanStand>>

export async function openScanStand({ more = [] }: { more?: string[] } = {}) {
  const root = mkdtempSync(join(tmpdir(), 'svc-scanned-'))
  const script = noScript()
  const server = await startGitServer({ root, login: `bot:${password}` })
  const vendor = await startVendor((request) => answer(script, request))
  const options = { flags: [...flags, ...more] }
  let service: Service = await startService(options)

  async function make(noun: string, body: object): Promise<void> {
    const made = await service.call('POST', `/api/v1/${noun}`, body)
    if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  }
  await make('secrets', { name: 'forge', stringData: { username: 'bot', token: password } })
  await make('providers', { name: 'vendor', spec: { type: 'llmo', baseURL: vendor.url, defaultModel: 'm' } })
  await make('agents', { name: 'auditor', spec: { providerRef: { name: 'vendor' } } })

  const get = async <T>(path: string) => (await service.call<T>('GET', `${base}/${path}`)).body
  const list = async <T>(path: string) => (await get<{ items: T[] }>(path)).items
  const runsOf = (name: string) => list<ScanRun>(`repositories/${name}/scans`)
  const specOf = (name: string, spec: object = {}) => ({
    repoURL: `${server.origin}/${name}.git`,
    gitSecretRef: { name: 'forge' },
    analysisAgentRef: { name: 'auditor' },
    validationMode: 'off',
    ...spec,
  })

  return {
    root,
    server,
    vendor,
    password,
    script,
    call: <T>(method: string, path: string, body?: unknown) => service.call<T>(method, path, body),
    make,
    get,
    list,
    specOf,
    makeRemote(name: string, entries: Entries = shop, branch = 'main'): string {
      git(root, ['init', '-q', '--bare', '-b', branch, `${name}.git`])
      const bare = join(root, `${name}.git`)
      git(bare, ['config', 'http.receivepack', 'true'])
      if (Object.keys(entries).length > 0) addCommit(bare, branch, entries)
      return bare
    },
    createScan: (name: string, spec: object = {}) => make('security/repositories', { name, spec: specOf(name, spec) }),
    scanOf: (name: string) => get<RepositoryScan>(`repositories/${name}`),
    runsOf,
    findingsOf: (name: string, query = '') => list<Finding>(`repositories/${name}/findings?${query}`),
    slicesOf: (name: string) => list<ReviewSlice>(`repositories/${name}/slices`),
    patchesOf: (id: string) => list<PatchProposal>(`findings/${id}/patches`),
    startRun: (name: string, body?: object) =>
      service.call<ScanRun>('POST', `${base}/repositories/${name}/scans`, body),
    /** The run after that many before it, once it has ended and the scan says so. */
    async waitForRun(name: string, count = 1): Promise<ScanRun> {
      let last: ScanRun | undefined
      await waitFor(async () => {
        const runs = await runsOf(name)
        last = runs[0]
        return runs.length === count && (last?.phase === 'succeeded' || last?.phase === 'failed')
      }, `run ${count} of ${name} to end`)
      return last as ScanRun
    },
    /** The newest patch of a finding, once it is decided. */
    async waitForPatch(id: string): Promise<PatchProposal> {
      const newest = async () => (await list<PatchProposal>(`findings/${id}/patches`))[0]
      await waitFor(async () => ((await newest())?.status ?? 'pending') !== 'pending', `the patch of ${id}`)
      return (await newest()) as PatchProposal
    },
    folder: () => service.folder,
    service: () => service,
    forget: () => void Object.assign(script, noScript()),
    kill: () => service.kill(),
    async start(): Promise<void> {
      service = await startService({ folder: service.folder, ...options })
    },
    async close(): Promise<void> {
      await service.stop()
      await vendor.close()
      await server.stop()
      removeFolder(service.folder)
      removeFolder(root)
    },
  }
}
