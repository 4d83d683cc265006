// A provider of execution workspaces that is switched off while a task runs in one: the task ends and says why, what was
// retained is ended, and new tasks are refused.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listPids, showsFolder } from '../../fixtures/processes.ts'
import { waitFor } from '../../fixtures/time.ts'
import {
  createTask,
  getTask,
  makeFolder,
  removeFolder,
  type Service,
  startService,
  waitForPhase,
} from '../../scenarios/service.ts'

const folder = makeFolder()
let service: Service

async function start(flags: string[] = []): Promise<void> {
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
  service = await startService({ folder, flags: ['--agent-program', 'shell=shell-agent', ...flags], env })
}

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'))
  copyFileSync(
    join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'shell.mjs'),
    join(folder, 'bin', 'shell-agent'),
  )
  chmodSync(join(folder, 'bin', 'shell-agent'), 0o755)
  await start()
  await service.call('POST', '/api/v1/providers', {
    name: 'main',
    spec: { type: 'llmo', baseURL: 'http://127.0.0.1:9' },
  })
  const spec = { runtime: { runtimeRef: { name: 'shell' } }, model: { name: 'main/test-model' } }
  await service.call('POST', '/api/v1/agents', { name: 'shell', spec })
})
afterAll(async () => {
  await service?.stop()
  removeFolder(folder)
})

const inWorkspace = (prompt: string, workspace: object = {}, session?: string) => ({
  type: 'agent',
  prompt,
  agentRef: { name: 'shell' },
  execution: { workspace: { enabled: true, ...workspace } },
  ...(session && { sessionRef: { name: session, create: true } }),
})

function listFolders(): string[] {
  const root = join(folder, 'share', 'svc', 'workspaces')
  if (!existsSync(root)) return []
  return readdirSync(root).flatMap((namespace) => readdirSync(join(root, namespace)))
}

const findSandboxes = () => listPids().filter((pid) => showsFolder(pid, folder))

const listed = async () => (await service.call<{ items: object[] }>('GET', '/api/v1/workspaces')).body.items

async function expectRefusal(workspace: object, provider: string): Promise<void> {
  const spec = inWorkspace('true', workspace)
  const answer = await service.call('POST', '/api/v1/tasks', { metadata: { name: 'refused' }, spec })
  expect([answer.status, JSON.stringify(answer.body)]).toEqual([
    400,
    expect.stringContaining(`${provider} is not enabled`),
  ])
}

it('the running task says why it ends, the retained workspace goes, and new tasks are refused', async () => {
  const kept = { reusePolicy: 'session', cleanupPolicy: 'retain' }
  await createTask(service, 'left', inWorkspace('echo kept >note', kept, 'talk'))
  await waitForPhase(service, 'left', 'Succeeded')
  await createTask(service, 'runs', inWorkspace('sleep 600'))
  await waitFor(
    async () => (await getTask(service, 'runs')).status?.executionWorkspace?.phase === 'Ready',
    'it to be ready',
  )
  expect(listFolders()).toHaveLength(2)
  await waitFor(() => findSandboxes().length > 0, 'its program to run')
  await service.kill()
  await start(['--agent-sandbox-enabled', 'false'])
  const ended = await waitForPhase(service, 'runs', 'Failed')
  expect(ended.status?.message).toContain('agent-sandbox is not enabled on this service')
  await expectRefusal({}, 'agent-sandbox')
  await waitFor(() => listFolders().length === 0, 'no workspace to be left')
  await waitFor(async () => (await listed()).length === 0, 'no record to be left')
  await waitFor(() => findSandboxes().length === 0, 'no program to be left')
})

it('actors are none of one machine: whoever asks for one is told so, whatever the settings say', async () => {
  await service.stop()
  await start([
    '--actor-enabled',
    'true',
    '--actor-api-insecure-skip-verify',
    'true',
    '--actor-bootstrap-token-secret-name',
    'b',
  ])
  await expectRefusal({ provider: 'actor', templateRef: { name: 'agents' } }, 'actor')
})
