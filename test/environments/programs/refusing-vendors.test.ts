// Agent programs whose vendor cannot be reached or refuses: the failure of each says why, whatever the program itself shows.
import { mkdtempSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentRuntimes } from '../../../src/agents/runtimes.ts'
import { openAgentPrograms } from '../../../src/compose/agent-programs.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { runtimeTypes } from '../../../src/contract/kinds/agents/runtime-types.ts'
import { systemClock } from '../../../src/lib/system-clock.ts'
import { probeBubblewrap } from '../../../src/runtime/local/confinement/bubblewrap.ts'
import { openServiceForwarder } from '../../../src/worker/agent/service-forwarder.ts'
import { makeJob, runSandboxed } from '../../fixtures/agents/program-runs.ts'
import { hasProgram, isReported, programsOf } from '../../fixtures/clients.ts'
import { addVendors } from '../../fixtures/proxy/vendors.ts'
import { removeFolder, type Service, startService } from '../../scenarios/service.ts'

const path = [programsOf('newest'), dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:9'

/** What the failure says, by the vendor's status; 0: there is no vendor. */
const sentences: Record<number, string> = {
  0: 'Provider default/v0 is unreachable at 127.0.0.1:9; check its address and the network',
  401: 'Provider default/v401 refused the API key; check the key and what it may do (HTTP 401): words of a vendor, 401',
  403: 'Provider default/v403 refused access',
  404: 'words of a vendor, 404',
  429: 'words of a vendor, 429',
}
const statuses = Object.keys(sentences).map(Number)

/** The status stands in the path. */
const vendor: Server = createServer((request, response) => {
  const status = Number(request.url?.split('/')[1])
  // Without that header some programs ask for minutes.
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' })
  response.end(JSON.stringify({ error: { message: `words of a vendor, ${status}`, type: 'test_error' } }))
  request.resume()
})

let service: Service
beforeAll(async () => {
  await new Promise<void>((resolve) => vendor.listen(0, '127.0.0.1', resolve))
  const { port } = vendor.address() as AddressInfo
  service = await startService()
  for (const status of statuses) {
    const url = status === 0 ? nowhere : `http://127.0.0.1:${port}/${status}`
    await addVendors(service, url, { llmo: `v${status}` }, { defaultModel: 'test-model' })
  }
})
afterAll(async () => {
  vendor.close()
  await service?.stop()
  removeFolder(service?.folder)
})

const bubblewrap = probeBubblewrap()
const found = openAgentPrograms(loadConfig({ flags: {}, env: { PATH: path } }), bubblewrap)
const isMissing = (command: string) => !hasProgram('newest', command) && !isReported

/** As a worker runs it, with its calls seen. */
async function run(name: (typeof runtimeTypes)[number], model: string) {
  const folder = mkdtempSync(join(service.folder, 'agent-'))
  const ids = { random: Math.random }
  const forwarder = await openServiceForwarder({ url: service.url, clock: systemClock, ids, note: () => undefined })
  try {
    const { token } = service
    const job = makeJob({ url: forwarder.url, token }, { folder, prompt: 'greet the proxy', model })
    const program = await found.find(name)
    const launch = program?.found ? program.launch : undefined
    const { lastRefusal } = forwarder
    return await runSandboxed(agentRuntimes[name], job, { path, launch, lastRefusal, timeoutMs: 280_000 })
  } finally {
    await forwarder.close()
  }
}

// All at once, since some wait for minutes between their tries.
describe.skipIf(!(await bubblewrap).available)('a program whose vendor is away or refuses', () => {
  for (const name of runtimeTypes) {
    const skip = isMissing(agentRuntimes[name].command)
    it.concurrent.each(statuses)(`says why: ${name}, %i`, { timeout: 300_000, skip }, async (status) => {
      const message = expect.stringContaining(sentences[status] ?? '')
      expect(await run(name, `v${status}/test-model`)).toMatchObject({ ok: false, reason: 'AgentFailed', message })
    })
  }
})
