// The inventory of a repository with many open pull requests: first, unchanged, and with one of them changed.
import { createCodeHosts } from '../src/codehost/code-hosts.ts'
import { createEgress } from '../src/egress/egress.ts'
import { startCodeHost } from '../test/fixtures/codehost/server.ts'
import { type Row, report, round } from './measure.ts'

const pulls = Number(process.env.BENCH_PULLS ?? 1000)
const full = 'acme/site'

type Server = Awaited<ReturnType<typeof startCodeHost>>

/** Without commits of their own, which a list does not show. */
async function fill(server: Server): Promise<void> {
  for (let number = 1; number <= pulls; number += 1) {
    const draft = { title: `Change ${number}`, head: `topic-${number}`, base: 'main', body: 'x'.repeat(500) }
    await server.call('acme', 'POST', `/repos/${full}/pulls`, draft)
  }
}

async function measurePass(name: string, server: Server, list: () => Promise<unknown[]>): Promise<Row> {
  server.seen.length = 0
  const before = server.limits.remaining
  const start = performance.now()
  const found = await list()
  const ms = performance.now() - start
  const quota = before - server.limits.remaining
  return { case: name, 'pull requests': found.length, requests: server.seen.length, quota, ms: round(ms) }
}

export async function run(): Promise<void> {
  const server = await startCodeHost({ repositories: [full] })
  const egress = createEgress()
  const hosts = createCodeHosts({
    hosts: ['github.com'],
    apiUrls: { 'github.com': server.url },
    egress,
    policy: { allowNetworks: [], deny: [] },
    now: Date.now,
  })
  try {
    await fill(server)
    const credentials = { kind: 'token', token: server.tokenOf('writer') } as const
    const repository = { host: 'github.com', owner: 'acme', name: 'site' }
    const host = hosts.open(repository, { readCredentials: async () => credentials })
    const list = () => host.listPullRequests({ base: 'main' })
    const first = await measurePass('first pass', server, list)
    const unchanged = await measurePass('unchanged', server, list)
    await server.call('acme', 'PATCH', `/repos/${full}/pulls/${Math.ceil(pulls / 2)}`, { title: 'Another title' })
    report('codehost-inventory', [first, unchanged, await measurePass('one changed', server, list)])
  } finally {
    await egress.close()
    await server.close()
  }
}
