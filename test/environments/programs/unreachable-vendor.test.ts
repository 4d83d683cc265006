// Agent programs whose vendor cannot be reached: each that shows what it was answered ends with the provider's name and what to do.
import { mkdirSync, mkdtempSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentRuntimes } from '../../../src/agents/runtimes.ts'
import { openAgentPrograms } from '../../../src/compose/agent-programs.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { runtimeTypes } from '../../../src/contract/kinds/agents/runtime-types.ts'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { createPrograms } from '../../../src/runtime/local/sandbox/programs.ts'
import { runAgentProgram } from '../../../src/worker/agent/agent-program.ts'
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
      const [workFolder, home] = [join(folder, 'work'), join(folder, 'home')]
      for (const each of [workFolder, home]) mkdirSync(each, { recursive: true })
      const job = {
        prompt: 'greet the proxy',
        model: 'llmo/test-model',
        maxTurns: 5,
        allowBash: true,
        trustsFolder: false,
        workFolder,
        readFolders: [],
        home,
        proxy: { url: service.url, token: service.token },
      }
      const program = await found.find(name)
      const end = await runAgentProgram(runtime, job, {
        path,
        launch: program?.found ? program.launch : undefined,
        programs: createPrograms({ nodePath: process.execPath, bubblewrap }),
        signal: AbortSignal.timeout(280_000),
        emit: () => undefined,
        redact: (text) => text,
      })
      const message = expect.stringContaining(words[name] ?? named)
      expect(end).toMatchObject({ ok: false, reason: 'AgentFailed', message })
    })
  }
})
