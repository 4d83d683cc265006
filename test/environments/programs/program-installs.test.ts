// Agent programs that nobody here wrote, as managers of packages and of versions install them, on each Node that can be had:
// found, judged and asked for their version in a sandbox, and one of each sort run to its end.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentRuntimes } from '../../../src/agents/runtimes.ts'
import { openAgentPrograms } from '../../../src/compose/agent-programs.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { type RuntimeType, runtimeTypes } from '../../../src/contract/kinds/agents/runtime-types.ts'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { layouts, type PackagedProgram } from '../../fixtures/agents/install-layouts.ts'
import { makeJob, runSandboxed } from '../../fixtures/agents/program-runs.ts'
import { addVendors } from '../../fixtures/proxy/vendors.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

const clients = join(import.meta.dirname, '..', '..', 'clients', 'node_modules')
const programs = process.env.SVC_TEST_PROGRAMS ?? join(clients, '.bin')
const bubblewrap = probeBubblewrap()

/** By major version: that which runs this, and those that are installed beside the clients. */
const nodes: Record<string, string> = { [process.versions.node.split('.')[0] ?? '']: process.execPath }
for (const major of ['20', '22']) {
  const file = join(process.env.SVC_TEST_NODES ?? clients, `node-v${major}`, 'bin', 'node')
  if (existsSync(file)) nodes[major] = file
}

/** The package of the program, and those beside it with the parts of each platform. */
function findPackages(type: RuntimeType, node: string): PackagedProgram {
  const { command } = agentRuntimes[type]
  const file = realpathSync(join(programs, command))
  const modules = /^.*?\/node_modules(?=\/)/.exec(file)?.[0] ?? ''
  const [first = '', second = ''] = relative(modules, file).split('/')
  const name = first.startsWith('@') ? `${first}/${second}` : first
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))
  const needed = Object.keys({ ...dependencies, ...optionalDependencies })
  const parts = needed.filter((part) => existsSync(join(modules, part)))
  const packages = Object.fromEntries([name, ...parts].map((each) => [each, join(modules, each)]))
  return { command, packages, entry: relative(modules, file), node }
}

let service: Service
let vendor: LLMock
beforeAll(async () => {
  service = await startService()
  vendor = new LLMock({ port: 0, chunkSize: 64 })
  await vendor.start()
  const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
  vendor.on({ userMessage: /.*/ }, { content: 'It is done.', usage })
  await addVendors(service, vendor.url, { llmo: 'main' })
})
afterAll(async () => {
  await vendor?.stop()
  await service?.stop()
  removeFolder(service?.folder)
})

let folder: string
beforeEach(() => {
  // Beside the programs, which are linked and not copied.
  folder = mkdtempSync(join(process.env.SVC_TEST_PROGRAMS ?? clients, '..', 'installs-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function install(type: RuntimeType, layout: string, node: string) {
  const home = join(folder, 'home')
  mkdirSync(home)
  const PATH = layouts[layout]?.(home, findPackages(type, node)) ?? ''
  return await openAgentPrograms(loadConfig({ flags: {}, env: { PATH, HOME: home } }), bubblewrap).find(type)
}

const isMissing = (type: RuntimeType) =>
  !existsSync(join(programs, agentRuntimes[type].command)) && process.env.SVC_TEST_REPORT === undefined

describe.skipIf(!(await bubblewrap).available).each(runtimeTypes)('%s', (type) => {
  const kinds = Object.keys(layouts).flatMap((layout) => Object.keys(nodes).map((major) => ({ layout, major })))
  it.skipIf(isMissing(type)).each(kinds)('is ready as installed by $layout with Node $major', async (kind) => {
    const program = await install(type, kind.layout, nodes[kind.major] ?? '')
    expect(program).toMatchObject({ found: true, launch: { version: expect.stringMatching(/^\d+\.\d+\.\d+$/) } })
  })

  it.skipIf(isMissing(type)).each(Object.keys(nodes))('works in its sandbox on Node %s', async (major) => {
    const program = await install(type, 'nvm', nodes[major] ?? '')
    const launch = program?.found ? program.launch : undefined
    const job = makeJob(service, { folder, home: join(folder, 'own'), prompt: 'do it', maxTurns: 3 })
    const end = await runSandboxed(agentRuntimes[type], job, { path: launch?.path ?? '', launch })
    expect(end).toMatchObject({ ok: true, result: 'It is done.' })
  })
})
