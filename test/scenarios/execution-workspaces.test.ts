// Agent tasks in execution workspaces, over the built program: what a session finds again, and that nothing is left.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/resources/task.ts'
import { waitFor } from '../fixtures/time.ts'
import {
  createTask,
  getTask,
  makeFolder,
  readResult,
  removeFolder,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const secret = `made-up-${Math.random().toString(36).slice(2)}-secret`
const folder = makeFolder()
let service: Service

async function start(flags: string[] = []): Promise<void> {
  const bin = join(folder, 'bin')
  service = await startService({
    folder,
    flags: ['--agent-program', 'shell=shell-agent', ...flags],
    env: { PATH: `${bin}:${process.env.PATH}` },
  })
}

async function post(noun: string, body: object): Promise<void> {
  const answer = await service.call('POST', `/api/v1/${noun}`, body)
  expect([answer.status, answer.body]).toEqual([201, expect.anything()])
}

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'))
  copyFileSync(join(import.meta.dirname, '..', 'fixtures', 'agents', 'shell.mjs'), join(folder, 'bin', 'shell-agent'))
  chmodSync(join(folder, 'bin', 'shell-agent'), 0o755)
  await start()
  await post('secrets', { name: 'keys', stringData: { token: secret } })
  await post('providers', { name: 'main', spec: { type: 'llmo', baseURL: 'http://127.0.0.1:9' } })
  const runtime = { runtimeRef: { name: 'shell' } }
  await post('agents', { name: 'shell', spec: { runtime, model: { name: 'main/test-model' } } })
})
afterAll(async () => {
  await service?.stop()
  removeFolder(folder)
})

type Workspace = NonNullable<NonNullable<NonNullable<Task['spec']['execution']>['workspace']>>
type Asked = Partial<Workspace> & { session?: string; more?: object }

function inWorkspace(prompt: string, { session, more, ...workspace }: Asked = {}) {
  return {
    type: 'agent',
    prompt,
    agentRef: { name: 'shell' },
    execution: { workspace: { enabled: true, ...(session && { reusePolicy: 'session' }), ...workspace } },
    ...(session && { sessionRef: { name: session, create: true } }),
    ...more,
  }
}

async function run(name: string, prompt: string, asked: Asked = {}): Promise<{ text: string; task: Task }> {
  await createTask(service, name, inWorkspace(prompt, asked))
  const task = await waitForPhase(service, name, 'Succeeded')
  return { text: String(await readResult(service, name)), task }
}

/** The folders of workspaces that there are. */
function listFolders(): string[] {
  const root = join(folder, 'share', 'svc', 'workspaces')
  if (!existsSync(root)) return []
  return readdirSync(root).flatMap((namespace) => readdirSync(join(root, namespace)))
}

/** Of the worker that runs in a workspace now. */
function readWorkerVariables(): Record<string, string> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0')
    } catch {
      return []
    }
  }
  const worker = pids.find(
    (pid) => /node$/.test(read(pid, 'cmdline')[0] ?? '') && read(pid, 'cmdline').includes('--workspace'),
  )
  if (worker === undefined) throw new Error('no worker runs in a workspace')
  return Object.fromEntries(read(worker, 'environ').map((line) => line.split(/=(.*)/s).slice(0, 2)))
}

describe('an agent task in an execution workspace', () => {
  it('has the place that its settings name, and leaves nothing with delete [WS-002] [WS-003] [WS-016] [TASK-008]', async () => {
    await createTask(service, 'one', inWorkspace('echo begun >begun; while [ ! -e go ]; do sleep 0.05; done; pwd'))
    const mark = join(folder, 'share', 'svc', 'workspaces', 'default')
    const place = () => join(mark, listFolders()[0] ?? 'none', 'files', 'work')
    await waitFor(() => existsSync(join(place(), 'begun')), 'the agent to begin')
    expect(readWorkerVariables()).toMatchObject({
      SVC_EXECUTION_WORKSPACE_ENABLED: 'true',
      SVC_EXECUTION_WORKSPACE_PROVIDER: 'agent-sandbox',
      SVC_EXECUTION_WORKSPACE_TEMPLATE_NAME: 'default',
      SVC_EXECUTION_WORKSPACE_TEMPLATE_NAMESPACE: 'default',
      SVC_EXECUTION_WORKSPACE_REUSE_POLICY: 'none',
      SVC_EXECUTION_WORKSPACE_CLEANUP_POLICY: 'delete',
      SVC_EXECUTION_WORKSPACE_CLAIM_TIMEOUT_SECONDS: '120',
      SVC_EXECUTION_WORKSPACE_COMMAND_TIMEOUT_SECONDS: '1800',
      SVC_EXECUTION_WORKSPACE_DEPTH: '1',
      SVC_EXECUTION_WORKSPACE_BOOT: 'false',
    })
    const running = (await getTask(service, 'one')).status?.executionWorkspace
    expect(running).toMatchObject({
      provider: 'agent-sandbox',
      templateRef: { name: 'default', namespace: 'default' },
      phase: 'Ready',
      reused: false,
      reusePolicy: 'none',
      cleanupPolicy: 'delete',
    })
    writeFileSync(join(place(), 'go'), '')
    const task = await waitForPhase(service, 'one', 'Succeeded')
    expect(String(await readResult(service, 'one')).trim()).toBe('/workspace/work')
    expect(task.status?.executionWorkspace).toMatchObject({ phase: 'Deleted', reason: 'WorkspaceDeleted' })
    expect(JSON.stringify(task.status)).not.toContain('svc-ws-')
    expect(listFolders()).toEqual([])
  })

  it('finds what the task before it in the session left [WS-013] [WS-017]', async () => {
    const asked: Asked = { session: 'chat', cleanupPolicy: 'retain' }
    const first = await run(
      'first',
      'echo kept >kept; mkdir -p node_modules; echo $SVC_EXECUTION_WORKSPACE_PROVIDER',
      asked,
    )
    expect(first.task.status?.executionWorkspace).toMatchObject({ phase: 'Retained', reused: false })
    const second = await run('second', 'cat kept; ls', asked)
    expect(second.text).toContain('kept\n')
    expect(second.task.status?.executionWorkspace).toMatchObject({ phase: 'Retained', reused: true })
    const other = await run('third', 'ls', { ...asked, session: 'other' })
    expect(other.text).not.toContain('kept')
  })
})
