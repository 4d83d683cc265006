// What people run behind the gate of a network, with the variables that the service sets and nothing else: each reaches a host that
// is listed, says why it does not reach another, and reaches nothing without the proxy.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { gatePort, gateVariables } from '../../../src/contract/values/proxy-variables.ts'
import { createNetworkGates } from '../../../src/egress/network/gates.ts'
import { isInside } from '../../../src/lib/folder-path.ts'
import type { HostTraffic, NetworkGate } from '../../../src/ports/workspaces/network-gates.ts'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { createPrograms } from '../../../src/runtime/local/sandbox/programs.ts'
import { hasOpenssl, makeCertificate } from '../../fixtures/certificates.ts'
import { serveRegistries, writeRegistries } from '../../fixtures/network/registries.ts'

/** Where a program lies, and what it reads besides the folders of the system. */
type Found = { folders: string[]; path: string[] }

type Tool = {
  name: string
  found: Found | undefined
  /** Those that its registries have; https everywhere. */
  schemes?: string[]
  /** How it is told to trust a certificate, and to try no second time. */
  env?: (certificate: string) => Record<string, string>
  /** Run by a shell in an empty home. */
  script: (base: string) => string
  fetched: RegExp
}

const systemFolders = ['/usr', '/bin', '/sbin', '/lib']
const isShown = (path: string) => systemFolders.some((folder) => isInside(folder, path))
const searched = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/go/bin', '/usr/bin']

function findFile(name: string): string | undefined {
  return searched.map((folder) => join(folder, name)).find((file) => existsSync(file))
}

function readOutput(file: string, ...args: string[]): string | undefined {
  try {
    return execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return undefined
  }
}

function findIn(root: string | undefined, path = ['bin']): Found | undefined {
  if (root === undefined) return undefined
  return { folders: isShown(root) ? [] : [root], path: path.map((part) => join(root, part)) }
}

/** One of the system's packages. */
function findSystem(name: string): Found | undefined {
  const file = findFile(name)
  return file !== undefined && isShown(realpathSync(file)) ? { folders: [], path: [] } : undefined
}

function findPython(): Found | undefined {
  const python = findFile('python3')
  return findIn(python && readOutput(python, '-c', 'import sys, pip; print(sys.base_prefix)'))
}

function findCargo(): Found | undefined {
  const cargo = findFile('cargo')
  if (cargo === undefined) return undefined
  // What stands in PATH is mostly rustup, which would look for the toolchain by itself.
  const rustup = join(dirname(cargo), 'rustup')
  const real = existsSync(rustup) ? readOutput(rustup, 'which', 'cargo') : realpathSync(cargo)
  return findIn(real && dirname(dirname(real)))
}

function findGo(): Found | undefined {
  const go = findFile('go')
  return findIn(go && readOutput(go, 'env', 'GOROOT'))
}

/** Java and Maven read their settings in /etc. */
function findMaven(): Found | undefined {
  const found = findSystem('mvn') && findSystem('java')
  const settings = readdirSync('/etc').filter((name) => /^(maven|java)/.test(name))
  return found && { ...found, folders: settings.map((name) => `/etc/${name}`) }
}

const aptSettings = (base: string) => `
mkdir -p apt/etc/apt/apt.conf.d apt/etc/apt/preferences.d apt/var/lib/apt/lists/partial apt/var/cache/apt/archives/partial
touch apt/status
echo 'deb [trusted=yes] ${base}/debian ./' >apt/etc/apt/sources.list
cat >apt.conf <<END
Dir "$HOME/apt";
Dir::State::status "$HOME/apt/status";
Acquire::https::CAInfo "$CERTIFICATE";
Acquire::Retries "0";
Acquire::Languages "none";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Update::Error-Mode "any";
END
APT_CONFIG=$HOME/apt.conf apt-get update`

const tools: Tool[] = [
  {
    name: 'git',
    found: findSystem('git'),
    schemes: ['https', 'http'],
    env: (certificate) => ({ GIT_SSL_CAINFO: certificate }),
    script: (base) => `git clone -q ${base}/repo.git copy; git -C copy fetch -q origin; git -C copy log --format=%s`,
    fetched: /\/repo\.git\/objects\//,
  },
  {
    name: 'npm',
    found: findSystem('npm'),
    env: (certificate) => ({ npm_config_cafile: certificate, npm_config_fetch_retries: '0' }),
    script: (base) => `npm install --registry ${base}/npm/ demo && test -f node_modules/demo/package.json`,
    fetched: /\/files\/demo-1\.0\.0\.tgz$/,
  },
  {
    name: 'pip',
    found: findPython(),
    env: (certificate) => ({ PIP_CERT: certificate, PIP_RETRIES: '1', PIP_DISABLE_PIP_VERSION_CHECK: '1' }),
    script: (base) =>
      `python3 -m pip install --no-cache-dir --target out --index-url ${base}/simple/ demo && test -f out/demo.py`,
    fetched: /\/files\/demo-1\.0\.0-py3-none-any\.whl$/,
  },
  {
    name: 'cargo',
    found: findCargo(),
    env: (certificate) => ({ CARGO_HTTP_CAINFO: certificate, CARGO_NET_RETRY: '0' }),
    script: (base) => `
mkdir -p work/src work/.cargo && cd work && touch src/lib.rs
printf '[registries.local]\\nindex = "sparse+${base}/index/"\\n' >.cargo/config.toml
printf '[package]\\nname = "work"\\nversion = "0.1.0"\\nedition = "2021"\\n[dependencies]\\ndemo = { version = "1", registry = "local" }\\n' >Cargo.toml
cargo fetch`,
    fetched: /\/files\/demo-1\.0\.0\.crate$/,
  },
  {
    name: 'go',
    found: findGo(),
    env: (certificate) => ({
      SSL_CERT_FILE: certificate,
      GOSUMDB: 'off',
      GOTOOLCHAIN: 'local',
      GOFLAGS: '-modcacherw',
    }),
    script: (base) => `GOPROXY=${base}/go go mod download -x example.com/demo@v1.0.0`,
    fetched: /\/@v\/v1\.0\.0\.zip$/,
  },
  {
    name: 'apt-get',
    found: existsSync('/usr/lib/apt/methods/https') ? findSystem('apt-get') : undefined,
    schemes: ['https', 'http'],
    env: (certificate) => ({ CERTIFICATE: certificate }),
    script: aptSettings,
    fetched: /\/debian\/(\.\/)?Packages$/,
  },
  {
    name: 'mvn',
    found: findMaven(),
    // Java has a store of certificates of its own.
    schemes: ['http'],
    script: (base) => `
echo '<settings><mirrors><mirror><id>local</id><mirrorOf>*</mirrorOf><url>${base}/maven</url></mirror></mirrors></settings>' >settings.xml
echo '<project><modelVersion>4.0.0</modelVersion><parent><groupId>example</groupId><artifactId>parent</artifactId><version>1</version><relativePath/></parent><artifactId>work</artifactId><packaging>pom</packaging></project>' >pom.xml
mvn -B -ntp -gs settings.xml -s settings.xml -Dmaven.repo.local=$HOME/m2 validate`,
    fetched: /\/maven\/example\/parent\/1\/parent-1\.pom$/,
  },
]

const probe = await probeBubblewrap()
const folder = mkdtempSync(join(tmpdir(), 'svc-network-programs-'))
const seen: string[] = []
const traffic = new Map<string, HostTraffic>()
const portOf = (server: Server) => (server.address() as AddressInfo).port
const base = '/opt/node/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin'

let servers: Record<string, Server>
let certificate: ReturnType<typeof makeCertificate>
let gate: NetworkGate

beforeAll(async () => {
  if (!probe.available || !hasOpenssl) return
  const served = join(folder, 'served')
  mkdirSync(served)
  writeRegistries(served)
  certificate = makeCertificate('registries', ['good.example', 'other.example'])
  const { cert, key } = certificate
  servers = {
    http: createServer(serveRegistries(served, 'http', seen)),
    https: createSecureServer({ cert, key }, serveRegistries(served, 'https', seen)),
  }
  for (const server of Object.values(servers))
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  const gates = createNetworkGates({
    policy: { allowNetworks: [], deny: [] },
    limits: { connections: 64, bytes: 1e9 },
    report: (_attempt, changed) => {
      for (const line of changed) traffic.set(`${line.host}:${line.port}`, line)
    },
    limit: () => undefined,
    end: async () => undefined,
    ask: async () => 'pending',
    resolve: async () => [{ address: '93.184.216.34', family: 4 }],
    redirect: (_addresses, { port }) => ({
      host: '127.0.0.1',
      port: portOf(servers[port === 443 ? 'https' : 'http'] as Server),
    }),
  })
  const rules = { allow: ['good.example'], onUnknown: 'refuse' as const, ports: [80, 443] }
  gate = await gates.open({ key: { taskUid: 'uid', attempt: 1 }, namespace: 'default', taskName: 'programs', rules })
})
afterAll(async () => {
  await gate?.close()
  for (const server of Object.values(servers ?? {})) server.close()
  certificate?.remove()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  seen.length = 0
})

type Run = { tool: Tool; at: string; variables: Readonly<Record<string, string>> }

async function run({ tool, at, variables }: Run): Promise<{ code: number | null; output: string }> {
  const home = mkdtempSync(join(folder, 'home-'))
  const { folders = [], path = [] } = tool.found ?? {}
  const program = await createPrograms({ nodePath: process.execPath, bubblewrap: Promise.resolve(probe) }).start({
    argv: ['/bin/sh', '-ec', tool.script(at)],
    folder: home,
    home,
    folders: [...folders, certificate.certFile],
    env: { ...variables, HOME: home, PATH: [...path, base].join(':'), ...tool.env?.(certificate.certFile) },
    ports: { [gatePort]: gate.socket },
  })
  program.stdin?.end()
  const [printed, complained, { code }] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    program.exited,
  ])
  return { code, output: `${printed}${complained}` }
}

describe.skipIf(!probe.available || !hasOpenssl).each(tools)('$name', (tool) => {
  const { schemes = ['https'], name, found, fetched } = tool
  const cases = it.skipIf(found === undefined)
  const missing = found === undefined ? ` (${name} is not installed)` : ''

  cases.each(schemes)(`reaches a listed host by %s${missing}`, async (scheme) => {
    const { code, output } = await run({ tool, at: `${scheme}://good.example`, variables: gateVariables })
    expect([code, output]).toEqual([0, expect.anything()])
    expect(seen).toContainEqual(expect.stringMatching(fetched))
    expect(new Set(seen.map((one) => one.split('/')[0]))).toEqual(new Set(['good.example']))
  })

  cases.each(schemes)(`says that another host is refused by %s${missing}`, async (scheme) => {
    const { code, output } = await run({ tool, at: `${scheme}://other.example`, variables: gateVariables })
    expect(code).not.toBe(0)
    expect(output).toMatch(/\b403\b|is not on the allowlist/)
    expect(seen).toEqual([])
    await expect.poll(() => traffic.get(`other.example:${scheme === 'https' ? 443 : 80}`)?.refused).toBeGreaterThan(0)
  })

  cases.each(schemes)(`reaches nothing past the proxy by %s${missing}`, async (scheme) => {
    const port = portOf(servers[scheme] as Server)
    const { code } = await run({ tool, at: `${scheme}://127.0.0.1:${port}`, variables: {} })
    expect(code).not.toBe(0)
    expect(seen).toEqual([])
  })
})
