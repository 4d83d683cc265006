// Agent tasks in actors, from end to end: the built program beside the cluster's API server, the double of the actor service,
// and real agent programs in actors that really run.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { StructuredResult } from '../../src/contract/api/tasks/structured-result.ts'
import { type ActorCluster, type AskedTask, openActorCluster } from '../fixtures/actors/actor-cluster.ts'
import { type ActorsDouble, startActors } from '../fixtures/actors/actors.ts'
import { writeCalls } from '../fixtures/agents/write-calls.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { git, makeRepository } from '../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../fixtures/git/server.ts'
import { waitFor } from '../fixtures/time.ts'

const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
const password = 'made-up-git-password-0004'
const clients = join(import.meta.dirname, '../clients/node_modules')

describeOnCluster('tasks in actors', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-remotes-'))
  let double: ActorsDouble
  let bench: ActorCluster
  let server: GitServer
  let vendor: LLMock

  beforeAll(async () => {
    makeRepository(root, 'tool', { 'greeting.txt': 'hello\n' })
    server = await startGitServer({ root, login: `bot:${password}` })
    vendor = new LLMock({ port: 0, chunkSize: 64 })
    await vendor.start()
    double = await startActors({ workers: 2 })
    const images = ['acp', 'llma-cli'].flatMap((name) => ['--agent-image', `${name}=none:1`])
    const flags = ['--agent-program', 'acp=node /opt/agent/acp-agent.mjs', ...images]
    bench = await openActorCluster({ double, prefix: 'actors', flags })
    const { make } = bench
    const secret = (name: string, stringData: object) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name },
      stringData,
    })
    const secretRef = { name: 'vendor', key: 'api-key' }
    await bench.apply([
      secret('forge', { username: 'bot', token: password }),
      secret('vendor', { 'api-key': 'made-up-vendor-key-0004' }),
      make('Provider', 'main', { type: 'llma', baseURL: vendor.url, secretRef }),
      make('Provider', 'second', { type: 'llmo', baseURL: `${vendor.url}/v1`, secretRef }),
      make('Agent', 'acp', { runtime: { runtimeRef: { name: 'acp' } }, model: { name: 'second/test-model' } }),
      make('Agent', 'llma-cli', { runtime: { type: 'llma-cli' }, model: { name: 'main/test-model' } }),
    ])
    await bench.start()
  })
  afterAll(async () => {
    await bench?.close()
    await double?.stop()
    await vendor?.stop()
    await server?.stop()
    rmSync(root, { recursive: true, force: true })
  })
  beforeEach(() => {
    vendor.clearFixtures()
    vendor.resetMatchCounts()
  })

  const agents = ['acp', ...(existsSync(join(clients, '@anthropic-ai/claude-code')) ? ['llma-cli'] : [])]
  describe.runIf(existsSync(join(clients, '@agentclientprotocol/sdk')))('real agent programs', () => {
    it.each(agents)('%s changes a git repository: its result, diff and usage arrive', async (agent) => {
      const file = '/app/work/greeting.txt'
      const written = writeCalls[agent as 'acp'](file, 'good morning\n')
      const script = [
        { toolCalls: [written], usage },
        { content: 'It is warmer.', usage },
      ]
      for (const [turnIndex, response] of script.entries()) {
        vendor.prependFixture({ match: { userMessage: /warmer greeting/, turnIndex }, response })
      }
      const workspace = {
        gitRepo: `${server.origin}/tool.git`,
        gitSecretRef: { name: 'forge' },
        pushBranch: `svc/${agent}`,
      }
      const { task, shown, text } = await bench.run(`git-${agent}`, 'Write a warmer greeting', {
        agent,
        more: { workspace },
      })
      const result = JSON.parse(text) as StructuredResult
      expect(result).toMatchObject({
        files: ['greeting.txt'],
        pushBranch: `svc/${agent}`,
        summary: expect.stringContaining('It is warmer.'),
      })
      expect(result.diff).toContain('+good morning')
      expect(git(join(root, 'tool.git'), ['show', `svc/${agent}:greeting.txt`])).toBe('good morning')
      expect(task.status?.usage).toMatchObject({ llmCalls: expect.any(Number), inputTokens: expect.any(Number) })
      expect(shown).toMatchObject({
        provider: 'actor',
        phase: 'Deleted',
        reason: 'WorkspaceDeleted',
        placement: 'node-1',
      })
      expect(double.world.list()).toEqual([])
    })
  })

  it('find what the task before them in the session left, in the same actor', async () => {
    const asked: AskedTask = { session: 'talk', workspace: { cleanupPolicy: 'retain' } }
    const first = await bench.run('first', 'echo kept >note; pwd', asked)
    expect(first.text).toBe('/app/work')
    expect(first.shown).toMatchObject({ phase: 'Retained', reason: 'WorkspaceRetained', reused: false })
    const [actor] = double.world.list()
    expect(actor).toMatchObject({ status: 'STATUS_SUSPENDED' })
    const second = await bench.run('second', 'cat note', asked)
    expect(second.text).toBe('kept')
    expect(second.shown).toMatchObject({ phase: 'Retained', reused: true, resumeLatency: expect.stringMatching(/ms$/) })
    expect(double.world.list()).toEqual([actor])
    const [item] = await bench.workspaces()
    expect(item).toMatchObject({ state: 'Suspended', provider: 'actor', sessionName: 'talk' })
    expect((await bench.call('DELETE', `/api/v1/workspaces/${item?.name}`)).status).toBeLessThan(300)
    await waitFor(() => double.world.list().length === 0, 'no actor is left')
  })
})
