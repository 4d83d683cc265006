// What a newcomer does: a fresh clone, the README's commands typed into a shell with the Node that the machine has, and a pull request of a
// real agent program at the end. Vendor and code host are doubles on loopback.
import { execFileSync, spawn } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { writeCalls } from '../test/fixtures/agents/write-calls.ts'
import { openCodeHostStand } from '../test/fixtures/codehost/stand.ts'
import { type Row, report, round } from './measure.ts'

const prompt = 'fix the failing test'
const fixed = 'module.exports = (a, b) => a + b\n'

type Doubles = { vendor: string; host: string; flags: Record<string, string>; key: string }

/** Those of the README, and the provider, since a double needs an address that the vendor itself does not. */
const commandsFor = ({ vendor, host }: Doubles) => [
  'npm ci',
  `npx svc provider create claude --key-from-env ANTHROPIC_API_KEY --base-url ${vendor} --model test-model`,
  'npx svc secret create forge --from-env token=GITHUB_TOKEN',
  'npx svc agent create coder --runtime llma-cli --provider claude',
  `npx svc run --agent coder --repo ${host} --git-secret forge --push svc/fix-tests --pr "${prompt}"`,
]

async function startVendor(): Promise<LLMock> {
  const vendor = new LLMock({ port: 0 })
  await vendor.start()
  const about = { userMessage: new RegExp(prompt) }
  vendor.on({ ...about, turnIndex: 0 }, { toolCalls: [writeCalls['llma-cli']('sum.js', fixed)] })
  vendor.on({ ...about, turnIndex: 1 }, { content: 'sum adds now.' })
  vendor.on({ userMessage: /.*/ }, { content: 'ok' })
  return vendor
}

/** As somebody who has just logged in, with their registry. */
function shellOf(folder: string, { flags, key }: Doubles): Record<string, string> {
  const { NODE_EXTRA_CA_CERTS: trusted, npm_config_registry: registry } = process.env
  const certificates = join(folder, 'trusted.crt')
  for (const file of [trusted, flags.NODE_EXTRA_CA_CERTS]) if (file) appendFileSync(certificates, readFileSync(file))
  return {
    ...flags,
    ...(registry && { npm_config_registry: registry }),
    NODE_EXTRA_CA_CERTS: certificates,
    HOME: join(folder, 'home'),
    PATH: [join(folder, 'home', 'npm', 'bin'), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    NPM_CONFIG_PREFIX: join(folder, 'home', 'npm'),
    ANTHROPIC_API_KEY: 'sk-ant-made-up-key-000000',
    GITHUB_TOKEN: key,
  }
}

/** Seconds that it took; an error with what it printed when it fails. */
async function type(command: string, place: { cwd: string; env: Record<string, string> }): Promise<number> {
  const began = performance.now()
  const shell = spawn('/bin/bash', ['-c', command], { ...place, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (printed += chunk))
  const code = await new Promise((resolve) => shell.once('exit', resolve))
  if (code !== 0) throw new Error(`${command} ended with ${code}:\n${printed}`)
  return (performance.now() - began) / 1000
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-newcomer-'))
  const vendor = await startVendor()
  const stand = await openCodeHostStand({
    full: 'you/tool',
    entries: { 'sum.js': 'module.exports = (a, b) => a - b\n' },
  })
  const flags = {
    ...stand.env,
    SVC_ALLOW_NETWORK: '127.0.0.0/8',
    SVC_CODEHOST_HOSTS: new URL(stand.url).host,
    SVC_CODEHOST_API_URL: stand.codeHost.url,
  }
  const doubles = { vendor: vendor.url, host: stand.url, flags, key: stand.codeHost.tokenOf('you') }
  const cwd = join(folder, 'svc')
  const place = { cwd, env: shellOf(folder, doubles) }
  try {
    const rows: Row[] = []
    const clone = `git clone --quiet ${join(import.meta.dirname, '..')} ${cwd}`
    const install = 'npm install --global @anthropic-ai/claude-code@latest'
    for (const command of [clone, install])
      rows.push({
        what: command.split(' ').slice(0, 3).join(' '),
        s: round(await type(command, { ...place, cwd: folder })),
      })
    for (const command of commandsFor(doubles))
      rows.push({ what: command.split(' ').slice(0, 4).join(' '), s: round(await type(command, place)) })
    const [pull] = (await stand.codeHost.call('you', 'GET', '/repos/you/tool/pulls')) as unknown as { title: string }[]
    const written = execFileSync('git', ['show', 'svc/fix-tests:sum.js'], { cwd: stand.bare, encoding: 'utf8' })
    if (pull === undefined || written !== fixed) throw new Error('there is no pull request with the change')
    rows.push({ what: `all, until "${pull.title}"`, s: round(rows.reduce((sum, { s }) => sum + Number(s), 0)) })
    report('first pull request', rows)
  } finally {
    await type('npx svc down --yes', place).catch(() => undefined)
    await stand.close()
    await vendor.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
