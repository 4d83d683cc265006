// Tasks in git repositories on a cluster, from end to end: the chart's installation, real agent programs in pods, doubles of
// their vendors, and a git server with a login.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StructuredResult } from '../../src/contract/api/tasks/structured-result.ts'
import { type Call, call, writeCalls } from '../fixtures/agents/write-calls.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type ClusterDatabase, hostAddress, startClusterDatabase } from '../fixtures/cluster-services.ts'
import { git, makeRepository } from '../fixtures/git/repository.ts'
import { type GitServer, startGitServer } from '../fixtures/git/server.ts'
import { applyTasks, findObstacle, type Installation, install, undoAll } from '../fixtures/installation.ts'
import { kubectl, readObject } from '../fixtures/kubectl.ts'
import { waitFor } from '../fixtures/time.ts'

type Task = { metadata: { name: string }; status?: { phase?: string; message?: string; usage?: { llmCalls: number } } }

const image = process.env.SVC_TEST_IMAGE ?? ''
/** Of the programs that could be built, as `--agent-image` takes them. */
const agentImages = (process.env.SVC_TEST_AGENT_IMAGE ?? '').split(',').filter((each) => each !== '')
const obstacle = findObstacle(image)
const apiVersion = 'core.svc.ai/v1alpha1'
const usage = { prompt_tokens: 21, completion_tokens: 9, input_tokens: 21, output_tokens: 9 }
const password = 'made-up-git-password-0003'
const vendorKey = 'made-up-vendor-key-0003'

/** By the names that their images have; the last one is none that the service knows by itself. */
const programs = {
  'llma-cli': { runtime: { type: 'llma-cli' }, provider: 'main' },
  'llmo-cli': { runtime: { type: 'llmo-cli' }, provider: 'second' },
  'codehost-cli': { runtime: { type: 'codehost-cli' }, provider: 'second' },
  opencode: { runtime: { type: 'opencode' }, provider: 'second' },
  acp: { runtime: { runtimeRef: { name: 'acp' } }, provider: 'second' },
}
type ProgramName = keyof typeof programs
const programNames = Object.keys(programs) as ProgramName[]
const hasImage = (name: string) => agentImages.some((each) => each.startsWith(`${name}=`))

describeOnCluster(`agents on a cluster${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  const root = mkdtempSync(join(tmpdir(), 'svc-remotes-'))
  const bare = makeRepository(root, 'tool', { 'greeting.txt': 'hello\n', 'docs/notes.txt': 'one\n' })
  let database: ClusterDatabase
  let service: Installation
  let server: GitServer
  let vendor: LLMock

  const make = (kind: string, name: string, spec: object) => ({ apiVersion, kind, metadata: { name }, spec })
  const secret = (name: string, stringData: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    stringData,
  })

  beforeAll(async () => {
    server = await startGitServer({ root, login: `bot:${password}`, host: hostAddress })
    vendor = new LLMock({ port: 0, host: hostAddress, chunkSize: 64 })
    await vendor.start()
    database = await startClusterDatabase('agents')
    const agentProgram = ['acp=node /opt/agent/acp-agent.mjs', 'bare=bare --acp']
    const settings = { agentImage: agentImages, agentProgram }
    service = await install({ image, databaseUrl: database.url, replicas: 1, more: { settings } })
    // Titles, and whatever else a program asks for in passing.
    vendor.on({ userMessage: /.*/ }, { content: 'ok', usage })
    const origin = `http://${hostAddress}:${new URL(vendor.url).port}`
    const secretRef = { name: 'vendor', key: 'api-key' }
    await applyTasks(service, [
      secret('forge', { username: 'bot', token: password }),
      secret('vendor', { 'api-key': vendorKey }),
      make('Provider', 'main', { type: 'llma', baseURL: origin, secretRef }),
      make('Provider', 'second', { type: 'llmo', baseURL: `${origin}/v1`, secretRef }),
      ...programNames.map((name) => {
        const { runtime, provider } = programs[name]
        return make('Agent', name, { runtime, model: { name: `${provider}/test-model` } })
      }),
      make('Agent', 'bare', { runtime: { runtimeRef: { name: 'bare' } }, model: { name: 'main/test-model' } }),
      make('Agent', 'writer', { providerRef: { name: 'main' }, model: { name: 'test-model' } }),
    ])
  }, 300_000)
  const removeRoot = () => rmSync(root, { recursive: true, force: true })
  afterAll(
    () =>
      undoAll(
        service?.remove,
        database?.remove,
        () => vendor?.stop(),
        () => server?.stop(),
        removeRoot,
      ),
    180_000,
  )

  const workspace = (more: object = {}) => ({
    workspace: { gitRepo: `${server.origin}/tool.git`, gitSecretRef: { name: 'forge' }, ...more },
  })
  const readTask = (name: string) => readObject<Task>(['get', 'task', name], service.tasks)
  async function waitForPhase(name: string, phase: string): Promise<Task> {
    let last: Task | undefined
    const check = async () => {
      last = await readTask(name)
      // It does not change any more.
      if (last.status?.phase === 'Failed' && phase !== 'Failed') throw new Error(`${name} failed`)
      return last.status?.phase === phase && last
    }
    return waitFor(check, `${name} being ${phase}`, 180_000).catch(async (error: unknown) => {
      throw new Error(`${error}; it is ${JSON.stringify(last?.status)}; ${await logOf(name)}`)
    })
  }
  const ask = async <T>(path: string) => (await service.call<T>('GET', `${path}?namespace=${service.tasks}`)).body
  const logOf = async (name: string) => (await ask<{ logs: string }>(`/api/v1/tasks/${name}/logs`)).logs
  const resultOf = async (name: string) =>
    JSON.parse((await ask<{ result: string }>(`/api/v1/tasks/${name}/result`)).result) as StructuredResult
  function script(userMessage: RegExp, calls: Call[], answer: string): void {
    calls.forEach((each, turnIndex) => {
      vendor.prependFixture({ match: { userMessage, turnIndex }, response: { toolCalls: [each], usage } })
    })
    const turnIndex = calls.length
    vendor.prependFixture({ match: { userMessage, turnIndex }, response: { content: answer, usage } })
  }

  it.skipIf(!hasImage('llma-cli'))(
    'edits a repository: result, diff, usage and a pushed branch; no login and no token is within its reach [NAME-014, TASK-049]',
    async () => {
      const search = [
        'cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n" >seen.txt',
        'for file in $(find / /tmp /run /workspace -xdev -type f -size -64k -newer /etc/hostname 2>/dev/null); do cat $file; done >>seen.txt',
        'ls /run/svc /run/secrets/kubernetes.io /var/run/secrets >listed.txt 2>&1; kill -9 1; ls /proc | grep -c "^[0-9]" >count.txt; sleep 3',
      ].join('; ')
      script(
        /greet the world/,
        [
          call('Bash', { command: search, description: 'looks around' }),
          writeCalls['llma-cli']('/workspace/greeting.txt', 'hello world\n'),
        ],
        'It greets the world.',
      )
      await applyTasks(service, [
        make('Task', 'greets', {
          type: 'agent',
          prompt: 'greet the world',
          agentRef: { name: 'llma-cli' },
          ...workspace({ pushBranch: 'svc/greets' }),
        }),
      ])
      const pods = await waitFor(
        async () => {
          const found = await readObject<{ items: { status: { phase: string } }[] }>(['get', 'pods'], service.tasks)
          return found.items.some(({ status }) => status.phase === 'Running') && JSON.stringify(found)
        },
        'its pod running',
        120_000,
      )
      const task = await waitForPhase('greets', 'Succeeded')
      expect(task.status?.usage?.llmCalls).toBeGreaterThan(0)
      const result = await resultOf('greets')
      expect(result).toMatchObject({ version: 1, summary: 'It greets the world.', pushBranch: 'svc/greets' })
      expect(result.files).toEqual(['count.txt', 'greeting.txt', 'listed.txt', 'seen.txt'])
      expect(git(bare, ['show', 'svc/greets:greeting.txt'])).toBe('hello world')
      const seen = git(bare, ['show', 'svc/greets:seen.txt'])
      expect(seen).toContain('ANTHROPIC')
      // Of the pod's own account, and of the worker, whose files are in the other container.
      expect(git(bare, ['show', 'svc/greets:listed.txt'])).not.toMatch(/assignment|^token/m)
      const log = await logOf('greets')
      expect(log).not.toContain('not kept apart')
      for (const word of [password, vendorKey, btoa(`bot:${password}`)]) {
        for (const text of [seen, pods, log, JSON.stringify(result)]) expect(text).not.toContain(word)
      }
      // The credential of the gate is the program's own, and opens nothing else (`src/auth/gate-credentials.test.ts`).
      expect(seen.replaceAll(/attempt:[\w.-]+@/g, '')).not.toContain('eyJhbGciOi')
    },
    300_000,
  )

  describe('every other program, side by side', () => {
    const others = programNames.filter((name) => name !== 'llma-cli')
    const branchOf = (name: ProgramName) => `svc/${name}`
    const greetingOf = (name: ProgramName) => `hello from ${name}`
    // Not every program writes over a file that it has not read.
    const file = 'docs/greeting.txt'

    beforeAll(async () => {
      const found = others.filter(hasImage)
      for (const name of found) {
        const write = writeCalls[name](`/workspace/${file}`, `${greetingOf(name)}\n`)
        script(new RegExp(`greet as ${name}`), [write], `It greets as ${name}.`)
      }
      await applyTasks(
        service,
        found.map((name) => {
          const spec = { type: 'agent', prompt: `greet as ${name}`, agentRef: { name } }
          return make('Task', name, { ...spec, ...workspace({ pushBranch: branchOf(name) }) })
        }),
      )
    })

    for (const name of others) {
      const title = `${name} edits a repository: result, diff, usage and a pushed branch`
      const why = hasImage(name) ? '' : ' (SVC_TEST_AGENT_IMAGE names no image of it)'
      it.skipIf(why !== '')(
        `${title}${why}`,
        async () => {
          const { status } = await waitForPhase(name, 'Succeeded')
          // Asked for the edit, and for the answer.
          expect(status?.usage?.llmCalls).toBeGreaterThanOrEqual(2)
          const result = await resultOf(name)
          expect(result).toMatchObject({ version: 1, summary: `It greets as ${name}.`, pushBranch: branchOf(name) })
          expect(result.files).toEqual([file])
          expect(result.diff).toContain(`+++ b/${file}\n@@ -0,0 +1 @@\n+${greetingOf(name)}\n`)
          expect(git(bare, ['show', `${branchOf(name)}:${file}`])).toBe(greetingOf(name))
          const log = await logOf(name)
          expect(log).not.toContain('not kept apart')
          for (const word of [password, vendorKey]) expect(`${log}${JSON.stringify(result)}`).not.toContain(word)
        },
        300_000,
      )
    }
  })

  it('lets a model work in a repository with the tools of the service [TASK-049]', async () => {
    const calls = [call('file_write', { path: 'docs/notes.txt', content: 'two\n' })]
    script(/write two/, calls, 'It is written.')
    await applyTasks(service, [
      make('Task', 'writes', {
        type: 'ai',
        prompt: 'write two',
        agentRef: { name: 'writer' },
        ai: { tools: ['file_write'] },
        ...workspace({ pushBranch: 'svc/writes' }),
      }),
    ])
    await waitForPhase('writes', 'Succeeded')
    expect(await resultOf('writes')).toMatchObject({ summary: 'It is written.', files: ['docs/notes.txt'] })
    expect(git(bare, ['show', 'svc/writes:docs/notes.txt'])).toBe('two')
  }, 200_000)

  it('says of a program without an image which setting names it', async () => {
    await applyTasks(service, [
      make('Task', 'bare', { type: 'agent', prompt: 'x', agentRef: { name: 'bare' }, ...workspace() }),
    ])
    const task = await waitForPhase('bare', 'Failed')
    expect(task.status?.message).toContain('--agent-image bare=IMAGE')
    expect(await kubectl(['get', 'agent', 'bare', '-o', 'yaml'], { namespace: service.tasks })).toContain(
      '--agent-image',
    )
  }, 200_000)
})
