// Asks the HTTP side over a socket for whatever its OpenAPI document allows and forbids: Schemathesis with all of its checks.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createEgress } from '../../src/egress/egress.ts'
import type { RepositoryFolders } from '../../src/ports/codehost/repository-folders.ts'
import type { Egress } from '../../src/ports/service/egress.ts'
import { makeSecret } from '../fixtures/codehost/deliveries.ts'
import { type StrictVendor, startStrictVendor } from '../fixtures/proxy/strict-vendor.ts'
import { ownerToken, type Service, startService } from '../http/service.ts'
import { runCampaign } from './campaign.ts'
import { measureLongWork } from './long-work.ts'

/** Phases stop where this is over; what is left is said in the report. */
const mostSeconds = Number(process.env.SVC_FUZZ_SECONDS ?? 150)
/** Another seed asks other things; the report tells which it was. */
const seed = process.env.SVC_FUZZ_SEED ?? '1'
const installed = join(import.meta.dirname, '..', 'clients', 'python', 'bin', 'schemathesis')

function findProgram(): string | undefined {
  if (existsSync(installed)) return installed
  return spawnSync('schemathesis', ['--version']).status === 0 ? 'schemathesis' : undefined
}

function readOptions(url: string): string[] {
  return [
    ...['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
    ...['run', `${url}/openapi.json`, '--header', `Authorization: Bearer ${ownerToken}`],
    ...['--phases', 'examples,coverage', '--max-time', String(mostSeconds), '--request-timeout', '20'],
    ...['--workers', '1', '--no-shrink', '--seed', seed, '--no-color'],
  ]
}

/** Providers of the examples have addresses of others: whatever is dialled, one vendor on this machine answers. */
function leadTo(vendor: StrictVendor): Egress {
  const egress = createEgress()
  const policy = { allowNetworks: [], deny: [], trusted: vendor.url }
  const moved = (url: string) => vendor.url + new URL(url).pathname
  return {
    openPipe: (url) => egress.openPipe(moved(url), policy),
    request: (request, signal) => egress.request({ ...request, url: moved(request.url), policy }, signal),
    fetchWith: () => (input, init) => {
      const request = new Request(input, init)
      return egress.fetchWith(policy)(new Request(moved(request.url), request))
    },
    close: () => egress.close(),
  }
}

/** The one that the examples of the proxies name, in an address and by a model. */
async function addProvider({ call }: Service): Promise<void> {
  const spec = { type: 'llma', baseURL: 'https://vendor.example', defaultModel: 'model-1' }
  const made = await call('POST /api/v1/providers', { payload: { name: 'main', spec } })
  if (made.statusCode !== 201) throw new Error(`the provider could not be made: ${made.body}`)
}

/** Whatever repository is named, it is this skill. */
const repositoryFolders: RepositoryFolders = {
  read: async () => ({
    commit: '0'.repeat(40),
    files: new Map([['SKILL.md', Buffer.from('---\ndescription: d\n---\nx')]]),
  }),
}

async function run(program: string): Promise<number> {
  const vendor = await startStrictVendor(() => ({ text: 'hello' }))
  const egress = leadTo(vendor)
  const service = await startService({ logLevel: 'error', egress, usecases: { webhook: { secret: makeSecret() } } })
  Object.assign(service.ports, { repositoryFolders })
  await addProvider(service)
  const child = spawn(program, readOptions(await service.listen()), { stdio: 'inherit' })
  const status = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
  for (const line of service.logged) process.stdout.write(line)
  console.log(`${vendor.asked.length} requests reached the vendor.`)
  await service.stop()
  await egress.close()
  await vendor.stop()
  return status
}

/** Texts that are long take no longer than others. */
async function sendLongTexts(): Promise<number> {
  const { faults, sent, places, reads, health } = await runCampaign({ seed: Number(seed), maxSeconds: mostSeconds })
  for (const fault of faults) console.log(fault)
  console.log(
    `${sent} requests with long texts at ${places} places, ${reads} texts for readers: ${faults.length} faults.`,
  )
  console.log(
    `${health.asked} questions for /healthz beside them: 99 of 100 took ${health.p99Ms} ms at most, the slowest ${health.latestMs} ms.`,
  )
  return faults.length === 0 ? 0 : 1
}

/** Nor does the longest text hold up everybody else. */
async function readLongest(): Promise<number> {
  const { slowest, faults } = await measureLongWork()
  for (const fault of faults) console.log(fault)
  for (const { reader, length, text, ms } of slowest.slice(0, 5))
    console.log(`${ms} ms of the CPU: ${reader}, ${length} characters of ${text}`)
  return faults.length === 0 ? 0 : 1
}

process.exitCode = (await sendLongTexts()) || (await readLongest())
const program = findProgram()
if (program === undefined)
  console.log('Schemathesis is not installed (sh scripts/install-clients.sh): nothing was asked.')
else process.exitCode = (await run(program)) || process.exitCode
