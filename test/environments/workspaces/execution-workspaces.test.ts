// Agent tasks in execution workspaces, over the built program: what a session finds again, and that nothing is left.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkspaceItem } from '../../../src/contract/api/workspaces/workspaces.ts'
import type { Task } from '../../../src/contract/kinds/tasks/task.ts'
import { findPort } from '../../fixtures/free-port.ts'
import { readOfProcess } from '../../fixtures/processes.ts'
import { waitFor } from '../../fixtures/time.ts'
import {
  createTask,
  findProcesses,
  getTask,
  launchSvc,
  makeFolder,
  readResult,
  removeFolder,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from '../../scenarios/service.ts'

const secret = `made-up-${Math.random().toString(36).slice(2)}-secret`
const folder = makeFolder()
let service: Service

async function start(flags: string[] = []): Promise<void> {
  const bin = join(folder, 'bin')
  service = await startService({
    folder,
    flags: [
      ...['--agent-program', 'shell=shell-agent', '--execution-workspace-hourly-cost', '0.5'],
      ...['--allow-open-network', 'true', ...flags],
    ],
    env: { PATH: `${bin}:${process.env.PATH}` },
  })
}

async function post(noun: string, body: object): Promise<void> {
  const answer = await service.call('POST', `/api/v1/${noun}`, body)
  expect([answer.status, answer.body]).toEqual([201, expect.anything()])
}

beforeAll(async () => {
  mkdirSync(join(folder, 'bin'))
  copyFileSync(
    join(import.meta.dirname, '..', '..', 'fixtures', 'agents', 'shell.mjs'),
    join(folder, 'bin', 'shell-agent'),
  )
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

/** Whatever runs in a workspace of this service: it has a folder of it mounted. */
function findInside(): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => readOfProcess(pid, 'mountinfo').includes(`${basename(folder)}/share/svc/workspaces/`))
}

/** Of the worker that runs in a workspace now. */
function readWorkerVariables(): Record<string, string> {
  const wordsOf = (pid: number) => readOfProcess(pid, 'cmdline').split('\0')
  const worker = findInside().find((pid) => /node$/.test(wordsOf(pid)[0] ?? '') && wordsOf(pid).includes('--workspace'))
  if (worker === undefined) throw new Error('no worker runs in a workspace')
  const lines = readOfProcess(worker, 'environ').split('\0')
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))
}

const shownOf = async (name: string) => (await getTask(service, name)).status?.executionWorkspace

/** Files below the folder that hold the text. */
function findFiles(below: string, text: string): string[] {
  return readdirSync(below, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => existsSync(file) && readFileSync(file).includes(text))
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

  it('is used by one task of its session at a time: the second waits for the first', async () => {
    const asked: Asked = { session: 'both', cleanupPolicy: 'retain' }
    const prompts = ['once', 'again'].map((name) => [
      name,
      `ls -d busy; touch busy; sleep 1; rm busy; echo ${name} >>order; cat order`,
    ])
    await Promise.all(prompts.map(([name = '', prompt = '']) => createTask(service, name, inWorkspace(prompt, asked))))
    const tasks = await Promise.all(prompts.map(([name = '']) => waitForPhase(service, name, 'Succeeded')))
    const texts = await Promise.all(prompts.map(([name = '']) => readResult(service, name)))
    const reused = tasks.map(({ status }) => status?.executionWorkspace?.reused)
    expect(reused.toSorted()).toEqual([false, true])
    const last = String(texts[reused.indexOf(true)])
    expect([last.includes('once\n'), last.includes('again\n')]).toEqual([true, true])
    for (const text of texts) expect(String(text).split('\n')).not.toContain('busy')
  })

  it('keeps no secret of its task, wherever the agent has put it', async () => {
    const env = [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } }]
    const asked: Asked = { session: 'secretive', cleanupPolicy: 'retain', more: { env } }
    const first = await run('leaks', 'mkdir deep; echo "x $TOKEN x" >deep/leak; echo fine >kept; echo told', asked)
    expect(first.task.status?.executionWorkspace).toMatchObject({ phase: 'Retained' })
    const second = await run('looks', 'ls -a . deep; find .. -type f', asked)
    expect(second.task.status?.executionWorkspace).toMatchObject({ reused: true })
    expect(second.text).toContain('kept')
    expect(second.text).not.toContain('leak')
    expect(findFiles(join(folder, 'share', 'svc', 'workspaces'), secret)).toEqual([])
    const log = await service.call('GET', '/api/v1/tasks/leaks/logs')
    expect(JSON.stringify(log.body)).toContain('removed from the workspace')
  })

  describe('that leaves a server running', () => {
    /** The program goes on when the one that started it has ended; nobody knows its output any more. */
    const serve = (port: number) =>
      `node -e "require('http').createServer((_, a) => a.end('served')).listen(${port}, '127.0.0.1'); setInterval(console.log, 50)" ` +
      `>out 2>&1 & ${ask(port)}`
    const ask = (port: number) => `until curl -s http://127.0.0.1:${port}; do sleep 0.1; done`
    const seek = (port: number) => `curl -s http://127.0.0.1:${port} || echo nobody`
    /** What has less of a network is reached by nothing beside it. */
    const asked = (session: string): Asked => ({
      session,
      cleanupPolicy: 'retain',
      more: { network: { allow: ['open'] } },
    })
    const findServer = (port: number) => findProcesses(`listen(${port}`)
    const itemOf = async (session: string) =>
      (await service.call<{ items: WorkspaceItem[] }>('GET', '/api/v1/workspaces')).body.items.find(
        ({ sessionName }) => sessionName === session,
      )

    it('finds it in the next one of its session, until the workspace is released', async () => {
      const port = await findPort()
      expect((await run('serves', serve(port), asked('server'))).text).toContain('served')
      expect((await run('asks', seek(port), asked('server'))).text).toBe('served')
      const name = (await itemOf('server'))?.name ?? ''
      const words = ['workspace', 'shell', name, '--', 'curl', '-s', `http://127.0.0.1:${port}`]
      expect(await runSvc(words, service.env)).toMatchObject({ code: 0, stdout: 'served\n' })
      expect((await runSvc(['workspace', 'release', name], service.env)).code).toBe(0)
      expect(findServer(port)).toEqual([])
    })

    it('finds none that has only the gate, and nothing of this machine', async () => {
      const port = await findPort()
      const limited: Asked = { session: 'limited', cleanupPolicy: 'retain' }
      const own = new URL(service.url).port
      const past = `curl -s --noproxy '*' http://127.0.0.1:${own}/healthz || echo apart`
      const refused = 'curl -s -o /dev/null -w "%{http_code}" http://other.example/'
      const { text } = await run('limits', `${serve(port)}; ${past}; ${refused}`, limited)
      expect(text).toContain('servedapart\n403')
      expect((await run('seeks', seek(port), limited)).text.trim()).toBe('nobody')
      const name = (await itemOf('limited'))?.name ?? ''
      const look = (...words: string[]) => runSvc(['workspace', 'shell', name, '--', ...words], service.env)
      expect(await look('sh', '-c', past)).toMatchObject({ code: 0, stdout: 'apart\n' })
      expect(await look('sh', '-c', refused)).toMatchObject({ code: 0, stdout: '403\n' })
      const network = await service.call('GET', '/api/v1/tasks/limits/network')
      expect(JSON.stringify(network.body)).toContain('other.example')
      expect((await runSvc(['workspace', 'release', name], service.env)).code).toBe(0)
    })

    it('finds none that was given a Secret, and none of a task that has failed', async () => {
      const env = [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'keys', key: 'token' } } }]
      const [port, other] = [await findPort(), await findPort()]
      expect(
        (await run('keyed', serve(port), { ...asked('keyed'), more: { ...asked('keyed').more, env } })).text,
      ).toContain('served')
      expect(findServer(port)).toEqual([])
      await createTask(
        service,
        'late-server',
        inWorkspace(`${serve(other)}; sleep 600`, { ...asked('late'), more: { ...asked('late').more, timeout: '3s' } }),
      )
      await waitForPhase(service, 'late-server', 'Failed')
      await waitFor(async () => (await itemOf('late'))?.state === 'Retained', 'the workspace to be retained')
      expect(findServer(other)).toEqual([])
      for (const session of ['keyed', 'late']) {
        await runSvc(['workspace', 'release', (await itemOf(session))?.name ?? ''], service.env)
      }
    })

    it('leaves none when the service ends, or is killed', async () => {
      for (const end of [() => service.stop(), () => service.kill()]) {
        const port = await findPort()
        const name = `ends-${port}`
        expect((await run(name, serve(port), asked(name))).text).toContain('served')
        expect(findServer(port)).not.toEqual([])
        await end()
        await waitFor(() => findServer(port).length === 0, 'nothing to run')
        await start()
        expect((await run(`${name}-next`, seek(port), asked(name))).text.trim()).toBe('nobody')
        await runSvc(['workspace', 'release', (await itemOf(name))?.name ?? ''], service.env)
      }
    })
  })

  it('ends with its task, however that ends', async () => {
    for (const [name, end] of [
      ['cancelled', () => service.call('POST', '/api/v1/tasks/cancelled/cancel', {})],
      ['deleted', () => service.call('DELETE', '/api/v1/tasks/deleted')],
      ['late', async () => undefined],
    ] as const) {
      const before = listFolders().length
      const more = name === 'late' ? { timeout: '2s' } : {}
      await createTask(service, name, inWorkspace('echo begun >begun; sleep 600', { more }))
      await waitFor(() => listFolders().length > before, 'the workspace to be made')
      if (name !== 'late') await waitForPhase(service, name, 'Running')
      await end()
      await waitFor(() => listFolders().length === before, `nothing to be left of the task ${name}`)
      await waitFor(() => findInside().length === 0, `nothing to run of the task ${name}`)
    }
  })

  it('is listed, looked into and released by people', async () => {
    await run('left', 'echo here >note', { session: 'people', cleanupPolicy: 'retain' })
    const listed = (await service.call<{ items: WorkspaceItem[] }>('GET', '/api/v1/workspaces')).body.items
    const item = listed.find(({ sessionName }) => sessionName === 'people')
    expect(item).toMatchObject({
      state: 'Retained',
      provider: 'agent-sandbox',
      template: 'default',
      ageSeconds: expect.any(Number),
      cost: expect.any(Number),
    })
    const name = item?.name ?? ''
    const table = await runSvc(['workspace', 'list'], service.env)
    expect(table.stdout).toContain(name)
    const shell = await runSvc(['workspace', 'shell', name, '--', 'cat', 'note'], service.env)
    expect(shell).toMatchObject({ code: 0, stdout: 'here\n' })
    expect(
      (await runSvc(['workspace', 'shell', name, '--', 'sh', '-c', 'echo no >&2; exit 7'], service.env)).code,
    ).toBe(7)
    expect((await service.call('POST', `/api/v1/workspaces/${name}/commands`, { command: [] })).status).toBe(400)
    const again = await run('finds', 'cat note', { session: 'people', cleanupPolicy: 'retain' })
    expect(again.text).toContain('here')
    expect((await runSvc(['workspace', 'release', name], service.env)).code).toBe(0)
    expect((await service.call('DELETE', `/api/v1/workspaces/${name}`)).status).toBe(404)
    expect(listFolders()).not.toContain(name)
  })

  it('is kept when the service is killed while somebody runs a command in it', async () => {
    await run('noted', 'echo here >note', { session: 'shell', cleanupPolicy: 'retain' })
    const itemOf = async () =>
      (await service.call<{ items: WorkspaceItem[] }>('GET', '/api/v1/workspaces')).body.items.find(
        ({ sessionName }) => sessionName === 'shell',
      )
    const name = (await itemOf())?.name ?? ''
    const script = 'echo begun >begun; sleep 600'
    const shell = launchSvc(['workspace', 'shell', name, '--timeout', '300', '--', 'sh', '-c', script], service.env)
    const place = join(folder, 'share', 'svc', 'workspaces', 'default', name, 'files', 'work')
    await waitFor(() => existsSync(join(place, 'begun')), 'the command to run')
    expect((await itemOf())?.state).toBe('InUse')
    const refused = await runSvc(['workspace', 'release', name], service.env)
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("somebody's command; try again") })
    await service.kill()
    expect((await shell).code).not.toBe(0)
    await waitFor(() => findProcesses(script).length === 0, 'nothing to run')
    await start()
    expect((await itemOf())?.state).toBe('Retained')
    expect((await run('notes', 'cat note', { session: 'shell', cleanupPolicy: 'retain' })).text).toContain('here')
    expect((await runSvc(['workspace', 'release', name], service.env)).code).toBe(0)
  })

  it('says what to do instead, when somebody asks for what cannot be', async () => {
    await run('asked', 'true', { session: 'asked', cleanupPolicy: 'retain' })
    const { items } = (await service.call<{ items: WorkspaceItem[] }>('GET', '/api/v1/workspaces')).body
    const name = items.find(({ sessionName }) => sessionName === 'asked')?.name ?? ''
    const asked: [words: string[], said: RegExp][] = [
      [['release', 'none'], /no workspace "none" in namespace "default"; the list of workspaces shows/],
      [['shell', 'none', '--', 'true'], /no workspace "none" in namespace "default"; the list of workspaces shows/],
      [['release', name, '-n', 'elsewhere'], /in namespace "elsewhere"; the list of workspaces shows/],
      [['release', 'Not A Name'], /name/],
      [['release'], /name/],
      [['shell', name, '--timeout', 'soon', '--', 'true'], /--timeout.*1 to 300/],
      [['shell', name, '--timeout', '301', '--', 'true'], /--timeout.*1 to 300/],
      [['shell', name], /say what to run: .*workspace shell NAME -- ls/],
      [['list', '-n', 'elsewhere'], /no execution workspaces in namespace elsewhere; .*cleanupPolicy: retain/],
    ]
    for (const [words, said] of asked) {
      const { stderr } = await runSvc(['workspace', ...words], service.env)
      expect(stderr).toMatch(said)
    }
    expect((await runSvc(['workspace', 'release', name], service.env)).code).toBe(0)
    const gone = await runSvc(['workspace', 'shell', name, '--', 'true'], service.env)
    expect(gone).toMatchObject({ code: 1, stderr: expect.stringContaining('the list of workspaces shows') })
  })

  it('waits while its namespace has as many as it may, and says so', async () => {
    await service.stop()
    await start(['--execution-workspace-quota', '1'])
    for (const one of (await service.call<{ items: WorkspaceItem[] }>('GET', '/api/v1/workspaces')).body.items)
      await service.call('DELETE', `/api/v1/workspaces/${one.name}`)
    await createTask(service, 'holds', inWorkspace('while [ ! -e go ]; do sleep 0.05; done'))
    await waitForPhase(service, 'holds', 'Running')
    await createTask(service, 'waits', inWorkspace('echo through'))
    const told = async () => (await getTask(service, 'waits')).status?.message ?? ''
    await waitFor(async () => (await told()).includes('release one'), 'the task to say what it waits for')
    await service.call('POST', '/api/v1/tasks/holds/cancel', {})
    await waitForPhase(service, 'waits', 'Succeeded')
    await service.stop()
    await start()
  })

  it('survives kill -9 of the service in every phase, and so do the files of its session', async () => {
    const asked: Asked = { session: 'crash', cleanupPolicy: 'retain' }
    await run('before', 'echo kept >kept', asked)
    const phases: [name: string, isThere: () => Promise<boolean>][] = [
      ['at-once', async () => true],
      ['claimed', async () => (await shownOf('claimed'))?.reason !== 'WorkspacePending'],
      ['ready', async () => (await shownOf('ready'))?.phase === 'Ready'],
      ['working', async () => findFiles(join(folder, 'share', 'svc', 'workspaces'), 'working-mark').length > 0],
    ]
    for (const [name, isThere] of phases) {
      const prompt = `cat kept; echo ${name}-mark >mark; sleep 1; echo done-${name}`
      await createTask(service, name, inWorkspace(prompt, asked))
      await waitFor(isThere, `the task ${name} to be there`)
      await service.kill()
      await start()
      await waitForPhase(service, name, 'Succeeded')
      expect(String(await readResult(service, name))).toContain('kept')
    }
    await waitFor(() => findInside().length === 0, 'nothing to run')
    const left = (await service.call<{ items: WorkspaceItem[] }>('GET', '/api/v1/workspaces')).body.items
    expect(left.map(({ state, sessionName }) => [state, sessionName])).toEqual([['Retained', 'crash']])
    expect(listFolders()).toEqual(left.map(({ name }) => name))
  }, 300_000)
})
