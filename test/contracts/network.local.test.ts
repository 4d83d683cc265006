// The network of programs in bubblewrap: nothing but the gate, whatever they try.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NetworkRules, TrafficLimits } from '../../src/contract/kinds/tasks/network.ts'
import { gateVariables } from '../../src/contract/values/proxy-variables.ts'
import { createNetworkGates } from '../../src/egress/network/gates.ts'
import type { HostTraffic } from '../../src/ports/workspaces/network-gates.ts'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { createPrograms } from '../../src/runtime/local/sandbox/programs.ts'
import { waitFor } from '../fixtures/time.ts'
import { usersWhoMayRead } from '../fixtures/users.ts'
import { testIds } from './embedded-bench.ts'
import { type EmbeddedBench, openEmbeddedBench } from './embedded-workloads-bench.ts'

const probe = await probeBubblewrap()
const folder = mkdtempSync(join(tmpdir(), 'svc-network-test-'))
const traffic = new Map<string, HostTraffic>()
const limited: string[] = []

/** Serves the files of the folder, whatever host is asked for. */
const web = createServer((request, response) => {
  const file = join(folder, new URL(request.url ?? '', 'http://x').pathname)
  if (!file.startsWith(folder) || statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    return void response.writeHead(404).end()
  response.end(readFileSync(file))
})
/** What a program must not reach: a service on the loopback of this machine. */
const secret = createTcp((socket) => void socket.end('secret\n'))

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
let bench: EmbeddedBench

beforeAll(async () => {
  for (const server of [web, secret]) await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' })
  git('init', '-q', 'work')
  git(
    '-C',
    'work',
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.com',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'first',
  )
  git('clone', '-q', '--bare', 'work', 'repo.git')
  git('-C', 'repo.git', 'update-server-info')
  bench = openEmbeddedBench({
    gates: createNetworkGates({
      policy: { allowNetworks: [], deny: [] },
      limits: { connections: 64, bytes: 1e9 },
      report: (_attempt, changed) => {
        for (const line of changed) traffic.set(`${line.host}:${line.port}`, line)
      },
      limit: (_attempt, message) => void limited.push(message),
      end: async () => undefined,
      ask: async () => 'pending',
      resolve: async () => [{ address: '93.184.216.34', family: 4 }],
      redirect: () => ({ host: '127.0.0.1', port: portOf(web) }),
    }),
  })
})
afterAll(async () => {
  await bench?.close()
  web.close()
  secret.close()
  rmSync(folder, { recursive: true })
})

const rules: NetworkRules = { allow: ['good.example'], onUnknown: 'refuse', ports: [80, 443] }

async function run(script: string, limits?: TrafficLimits): Promise<string[]> {
  const key = { taskUid: testIds.next('uid'), attempt: 1 }
  const command = { kind: 'command' as const, command: ['/bin/bash', '-c', script], args: [], env: {} }
  await bench.workloads.ensure({
    key,
    namespace: 'default',
    taskName: 'net',
    run: command,
    network: { rules: { ...rules, ...(limits && { limits }) }, from: 'task' },
    limits: {},
  })
  await waitFor(
    async () => ['Succeeded', 'Failed'].includes((await bench.workloads.observe(key)).phase),
    'the attempt has ended',
  )
  await bench.workloads.remove(key)
  return bench.logs.get(key.taskUid) ?? []
}

describe.skipIf(!probe.available)('a command with an allowlist', () => {
  it('reaches what is listed by curl, git, Python and Node, and leaves nothing behind', async () => {
    const lines = await run(`
      curl -sSf http://good.example/repo.git/HEAD
      git clone -q http://good.example/repo.git copy && git -C copy log --format=%s
      /opt/node/bin/node -e 'fetch("http://good.example/repo.git/HEAD").then((r) => r.text()).then((t) => console.log("node", t.trim()))'
      ls /proc | grep -c '^[0-9]*$' >/dev/null; jobs; wait; echo children $?`)
    expect(lines).toEqual([
      expect.stringMatching(/^ref: /),
      'first',
      expect.stringMatching(/^node ref: /),
      'children 0',
    ])
    expect(traffic.get('good.example:80')?.connections).toBeGreaterThan(0)
  })

  it('reaches no more than its limits let it, and is told why', async () => {
    const lines = await run(
      `
      head() { curl -s http://good.example/repo.git/HEAD; }
      head
      until head | grep -m1 'limit of this task'; do :; done`,
      { bytes: 5000 },
    )
    expect([lines[0], lines.at(-1)]).toEqual([
      expect.stringMatching(/^ref: /),
      '5000 bytes were sent and received, which is the limit of this task',
    ])
    expect(limited).toEqual(['5000 bytes were sent and received, which is the limit of this task'])
  })

  it('sees the forwarder end, and then nothing', async () => {
    const lines = await run(`
      for file in /proc/[0-9]*/cmdline; do [ "$(head -c 18 $file | tr -d '\\0')" = /opt/node/bin/node ] && kill -9 $(basename $(dirname $file)); done 2>/dev/null
      curl -s --max-time 5 http://good.example/repo.git/HEAD || echo nothing`)
    expect(lines).toEqual(['nothing'])
  })
})

describe.skipIf(!probe.available)('the program of an agent', () => {
  it('has its ports, and no network', async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-home-'))
    const own = createServer((_request, response) => void response.end('the service'))
    const socket = join(home, 'service')
    await new Promise<void>((done) => void own.listen(socket, done))
    const script = `curl -sS http://127.0.0.1:4567/; echo; curl -s --noproxy '*' --max-time 3 http://127.0.0.1:${portOf(secret)}/ || echo nothing; echo done`
    const running = await createPrograms({ nodePath: process.execPath }).start({
      argv: ['/bin/bash', '-c', script],
      folder: home,
      home,
      env: { ...gateVariables },
      ports: { 4567: socket },
    })
    running.stdin?.end()
    const printed = await text(running.stdout)
    await running.exited
    own.close()
    rmSync(home, { recursive: true })
    expect(printed).toBe('the service\nnothing\ndone\n')
  })
})

const doors = join(import.meta.dirname, '..', 'fixtures', 'network', 'doors.ts')

describe.skipIf(!probe.available)('destinations outside', () => {
  const kinds = ['command', 'program of an agent', 'program in a workspace', 'command in a workspace']
  const cases = usersWhoMayRead(doors).flatMap((uid) => kinds.map((kind) => ({ kind, uid })))
  it.each(cases)('are out of reach of a $kind of user $uid', async ({ kind, uid }) => {
    // The folder of the tests is not for other users.
    const env = { HOME: '/', TMPDIR: '/tmp', PATH: process.env.PATH }
    const { stdout } = await promisify(execFile)(process.execPath, [doors, kind], { uid, gid: uid, cwd: '/', env })
    const { tried, found } = JSON.parse(stdout)
    expect(found).toEqual({
      printed: ['got what is allowed', 'end'],
      dialled: ['good.example:80'],
      arrived: ['the gate', 'the gate good.example'],
    })
    expect(tried).toBeGreaterThan(60)
  })
})
