// Agent programs whose vendor cannot be reached: each that shows what it was answered ends with the provider's name and what to do.
import { mkdtempSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentRuntimes } from '../../../src/agents/runtimes.ts'
import { openAgentPrograms } from '../../../src/compose/agent-programs.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { runtimeTypes } from '../../../src/contract/kinds/agents/runtime-types.ts'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { makeJob, runSandboxed } from '../../fixtures/agents/program-runs.ts'
import { hasProgram, isReported, programsOf } from '../../fixtures/clients.ts'
import { addVendors } from '../../fixtures/proxy/vendors.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

const path = [programsOf('newest'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:9'

let service: Service
beforeAll(async () => {
  service = await startService()
  await addVendors(service, nowhere, { llma: 'llma', llmo: 'llmo' }, { defaultModel: 'test-model' })
})
afterAll(async () => {
  await service?.stop()
  removeFolder(service?.folder)
})

const named = 'Provider default/llmo is unreachable at 127.0.0.1:9; check its address and the network'
/** Copilot does not show what it was answered. */
const words: Partial<Record<(typeof runtimeTypes)[number], string>> = { 'codehost-cli': 'Could not connect to' }

const bubblewrap = probeBubblewrap()
const found = openAgentPrograms(loadConfig({ flags: {}, env: { PATH: path } }), bubblewrap)
const isMissing = (command: string) => !hasProgram('newest', command) && !isReported

// All at once, since some wait for minutes between their tries.
describe.skipIf(!(await bubblewrap).available)('a program whose vendor is away', () => {
  for (const name of runtimeTypes) {
    const runtime = agentRuntimes[name]
    it.concurrent(`names it: ${name}`, { timeout: 300_000, skip: isMissing(runtime.command) }, async () => {
      const folder = mkdtempSync(join(service.folder, 'agent-'))
      const job = makeJob(service, { folder, prompt: 'greet the proxy', model: 'llmo/test-model' })
      const program = await found.find(name)
      const launch = program?.found ? program.launch : undefined
      const end = await runSandboxed(runtime, job, { path, launch, timeoutMs: 280_000 })
      const message = expect.stringContaining(words[name] ?? named)
      expect(end).toMatchObject({ ok: false, reason: 'AgentFailed', message })
    })
  }
})
