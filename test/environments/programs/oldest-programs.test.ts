// Agent programs that nobody here wrote, in the oldest versions that are supported: each edits a file and tells so, through the
// proxies of the real service, with a double of the vendors of each family behind it.
import { mkdtempSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentRuntimes } from '../../../src/agents/runtimes.ts'
import { openAgentPrograms } from '../../../src/compose/agent-programs.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { runtimeTypes } from '../../../src/contract/kinds/agents/runtime-types.ts'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { makeJob, runSandboxed } from '../../fixtures/agents/program-runs.ts'
import { writeCalls } from '../../fixtures/agents/write-calls.ts'
import { hasProgram, isReported, programsOf } from '../../fixtures/clients.ts'
import { addVendors } from '../../fixtures/proxy/vendors.ts'
import { launchSvc, removeFolder, type Service, startService } from '../../scenarios/service.ts'

const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
const path = [programsOf('oldest'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')

let service: Service
let vendor: LLMock
beforeAll(async () => {
  service = await startService()
  vendor = new LLMock({ port: 0, chunkSize: 64 })
  await vendor.start()
  await addVendors(service, vendor.url, { llma: 'llma', llmo: 'llmo' }, { defaultModel: 'test-model' })
})
afterAll(async () => {
  await vendor?.stop()
  await service?.stop()
  removeFolder(service?.folder)
})
beforeEach(() => {
  vendor.clearFixtures()
  vendor.resetMatchCounts()
})

const families = ['llma', 'llmo']
const bubblewrap = probeBubblewrap()
const found = openAgentPrograms(loadConfig({ flags: {}, env: { PATH: path } }), bubblewrap)
const isMissing = (command: string) => !hasProgram('oldest', command) && !isReported

describe.skipIf(!(await bubblewrap).available).each(runtimeTypes)('the oldest program of %s', (name) => {
  const runtime = agentRuntimes[name]
  it.skipIf(isMissing(runtime.command))('is the lowest that the service takes', async () => {
    expect(await found.find(name)).toMatchObject({ found: true, launch: { version: runtime.lowest } })
  })

  it.skipIf(isMissing(runtime.command)).each(families)('edits a file, with a provider of %s', async (family) => {
    const folder = mkdtempSync(join(service.folder, 'agent-'))
    const home = join(service.folder, `home-${name}`)
    const job = makeJob(service, { folder, home, prompt: 'greet the proxy', model: `${family}/test-model` })
    const file = join(job.workFolder, 'greeting.txt')
    const write = writeCalls[name](file, 'Good morning.')
    const about = { userMessage: /greet the proxy/ }
    vendor.on({ ...about, turnIndex: 0 }, { toolCalls: [write], usage })
    vendor.on({ ...about, turnIndex: 1 }, { content: 'The file greets the proxy.', usage })
    vendor.on({ userMessage: /.*/ }, { content: 'ok', usage })
    const program = await found.find(name)
    const end = await runSandboxed(runtime, job, { path, launch: program?.found ? program.launch : undefined })
    expect(end).toMatchObject({ ok: true, result: 'The file greets the proxy.' })
    expect(readFileSync(file, 'utf8')).toBe('Good morning.')
  })
})

describe('the oldest pi', () => {
  it.skipIf(isMissing('pi')).each(families)(
    'writes a file, started by svc launch with a provider of %s',
    async (family) => {
      const cwd = mkdtempSync(join(service.folder, 'pi-'))
      const write = { name: 'write', arguments: JSON.stringify({ path: 'greeting.txt', content: 'Good morning.' }) }
      const about = { userMessage: /greet the proxy/ }
      vendor.on({ ...about, turnIndex: 0 }, { toolCalls: [write], usage })
      vendor.on({ ...about, turnIndex: 1 }, { content: 'The file greets the proxy.', usage })
      const env = { ...service.env, HOME: join(service.folder, 'home-pi'), PATH: path }
      const args = ['launch', 'pi', '--provider', family, '--', '-p', 'greet the proxy']
      const { code, stdout, stderr } = await launchSvc(args, env, { cwd })
      expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('The file greets'), expect.anything()])
      expect(readFileSync(join(cwd, 'greeting.txt'), 'utf8')).toBe('Good morning.')
    },
  )
})
