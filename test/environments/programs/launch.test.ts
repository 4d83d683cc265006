// Coding clients that nobody here wrote, started by `svc launch` against the real service, with a double of each vendor's family.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addVendors } from '../../fixtures/proxy/vendors.ts'
import { launchSvc, removeFolder, runProgram, type Service, startService } from '../../scenarios/service.ts'

const programs =
  process.env.SVC_TEST_PROGRAMS ?? join(import.meta.dirname, '..', '..', 'clients', 'node_modules', '.bin')
const system = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin']

let service: Service
let vendor: LLMock
beforeAll(async () => {
  service = await startService()
  vendor = new LLMock({ port: 0, chunkSize: 64 })
  await vendor.start()
  const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
  vendor.on({ userMessage: /.*/ }, { content: 'Good day from the double.', usage })
  await addVendors(service, vendor.url, { llma: 'of-llma', llmo: 'of-llmo' }, { defaultModel: 'test-model' })
  mkdirSync(join(service.folder, 'work'))
})
afterAll(async () => {
  await vendor?.stop()
  await service?.stop()
  removeFolder(service?.folder)
})

const environment = () => ({
  ...service.env,
  HOME: join(service.folder, 'home'),
  // The folder of the clients has older versions of Node, which others of its programs are tried with.
  PATH: [...system, programs].join(':'),
})

/** Asks once and prints the answer. */
const asking: Record<string, string[]> = {
  claude: ['-p', 'say hello'],
  codex: ['exec', '--skip-git-repo-check', 'say hello'],
  opencode: ['run', 'say hello'],
  pi: ['-p', 'say hello'],
}

describe.each(Object.keys(asking))('svc launch %s', (name) => {
  const isMissing = !existsSync(join(programs, name)) && process.env.SVC_TEST_REPORT === undefined
  const cwd = () => join(service.folder, 'work')

  it.skipIf(isMissing).each(['of-llma', 'of-llmo'])('gets an answer of a provider %s', async (provider) => {
    const args = ['launch', name, '--provider', provider, '--', ...(asking[name] ?? [])]
    const { code, stdout, stderr } = await launchSvc(args, environment(), { cwd: cwd() })
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('Good day from the double.'), expect.anything()])
  })

  it.skipIf(isMissing)('ends with the code of the client', async () => {
    const args = ['launch', name, '--provider', 'of-llma', '--', '--no-such-option']
    const { code } = await launchSvc(args, environment(), { cwd: cwd() })
    const own = await runProgram(join(programs, name), ['--no-such-option'], { env: environment(), cwd: cwd() })
    expect(code).toBe(own.code)
  })

  it.skipIf(isMissing)('works in a shell that has evaluated `svc env`', async () => {
    const { stdout: lines } = await launchSvc(['env', name, '--provider', 'of-llma'], environment())
    // An alias counts from the next line on.
    const words = (asking[name] ?? []).map((word) => `'${word}'`).join(' ')
    const script = `shopt -s expand_aliases\n${lines}\n${name} ${words} </dev/null`
    const { stdout } = await runProgram('bash', ['-c', script], { env: environment(), cwd: cwd() })
    expect(stdout).toContain('Good day from the double.')
  })
})

it('of a client that is not installed says how it is', async () => {
  const { code, stderr } = await launchSvc(['launch', 'pi'], { ...environment(), PATH: system.join(':') })
  expect([code, stderr]).toEqual([2, expect.stringContaining('pi-coding-agent@latest')])
})
