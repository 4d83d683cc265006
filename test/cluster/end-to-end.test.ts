// The image inside the cluster, installed by the chart: tasks made by kubectl and by REST, on two replicas and PostgreSQL.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApprovalItem } from '../../src/contract/api/tasks/approvals.ts'
import type { TaskNetwork } from '../../src/contract/api/tasks/network.ts'
import { describeOnCluster } from '../fixtures/cluster.ts'
import { type ClusterDatabase, hostAddress, startClusterDatabase, startVendor } from '../fixtures/cluster-services.ts'
import {
  applyTasks,
  findObstacle,
  type Installation,
  install,
  openCalls,
  release,
  undoAll,
} from '../fixtures/installation.ts'
import { kubectl, readObject, runKubectl } from '../fixtures/kubectl.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import { launchSvc } from '../scenarios/service.ts'

type Task = {
  metadata: { name: string; uid: string }
  spec: object
  status?: {
    phase?: string
    message?: string
    attempts?: number
    conditions?: { type: string; status: string; reason: string }[]
    usage?: { llmCalls: number }
    resultRef?: object
  }
}

const image = process.env.SVC_TEST_IMAGE ?? ''
/** Many more at once than one node has places for pods that start. */
const crowdSize = Number(process.env.CROWD_TASKS ?? 60)
const obstacle = findObstacle(image)
const apiVersion = 'core.svc.ai/v1alpha1'

function makeTask(name: string, spec: object): object {
  return { apiVersion, kind: 'Task', metadata: { name }, spec }
}

function makeAgent(name: string): object {
  const spec = { providerRef: { name: 'vendor' }, model: { name: 'test-model' } }
  return { apiVersion, kind: 'Agent', metadata: { name }, spec }
}

function makeCommand(name: string, script: string): object {
  return makeTask(name, { type: 'container', image, command: ['node', '-e', script] })
}

/** Runs the last part of its prompt in a shell. Its image has no such program, so that its text stands in its command. */
const shell = readFileSync(join(import.meta.dirname, '../fixtures/agents/shell.mjs'), 'base64')
const shellCommand = `node --import data:text/javascript;base64,${shell} /dev/null`

/** Asks the proxy for the host until it was reached three times on end, or declined so often; prints what changes. */
const keepTrying = `
const { request } = require("node:http"), proxy = new URL(process.env.https_proxy)
const user = [proxy.username, proxy.password].map(decodeURIComponent).join(":")
const headers = { host: process.env.TARGET, "proxy-authorization": "Basic " + Buffer.from(user).toString("base64") }
const ask = () => new Promise((resolve) =>
  request({ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: process.env.TARGET, headers, agent: false })
    .on("connect", ({ statusCode, statusMessage }, socket) => resolve(statusCode === 200 ? "reached" : statusMessage, socket.destroy()))
    .on("error", ({ code }) => resolve(code)).end())
let last, times = 0
const look = async () => {
  const found = await ask()
  times = found === last ? times + 1 : 1
  if (found !== last) console.log(found)
  last = found
  if (times < 3 || /asked/.test(found)) setTimeout(look, 300)
}
look()`

describeOnCluster(`the service in the cluster${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
  if (obstacle !== undefined) return it.skip(obstacle, () => undefined)
  let database: ClusterDatabase
  let service: Installation
  let target: Server
  let targetName = ''

  const readTask = (name: string) => readObject<Task>(['get', 'task', name], service.tasks)
  const readTasks = async () => (await readObject<{ items: Task[] }>(['get', 'tasks'], service.tasks)).items

  async function waitForPhase(name: string, phase: string, timeoutMs = 90_000): Promise<Task> {
    let last: Task | undefined
    const check = async () => {
      last = await readTask(name)
      return last.status?.phase === phase && last
    }
    return waitFor(check, `${name} being ${phase}`, timeoutMs).catch((error: unknown) => {
      throw new Error(`${error}; it is ${JSON.stringify(last?.status)}`)
    })
  }

  async function countLeftovers(): Promise<number> {
    const { items } = await readObject<{ items: { metadata: { name: string } }[] }>(['get', 'jobs,pods'], service.tasks)
    return items.filter(({ metadata }) => metadata.name !== 'vendor').length
  }

  beforeAll(async () => {
    database = await startClusterDatabase('svc')
    target = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, hostAddress)
    await once(target, 'listening')
    const { port } = target.address() as { port: number }
    targetName = `${hostAddress}:${port}`
    const settings = {
      networkPorts: [443, port],
      agentImage: [`shell=${image}`],
      agentProgram: [`shell=${shellCommand}`],
    }
    // A replica leads for so long after it was told to end: whoever removes the service must wait for that.
    service = await install({
      image,
      databaseUrl: database.url,
      values: ['termination.delaySeconds=8'],
      more: { settings },
    })
    const baseURL = await startVendor(service.tasks, image)
    const provider = {
      type: 'llmo',
      baseURL,
      defaultModel: 'test-model',
      secretRef: { name: 'vendor', key: 'api-key' },
    }
    await applyTasks(service, [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'vendor' },
        stringData: { 'api-key': 'made-up-key-000000' },
      },
      { apiVersion, kind: 'Provider', metadata: { name: 'vendor' }, spec: provider },
      makeAgent('writer'),
    ])
  }, 300_000)

  afterAll(() => undoAll(service?.remove, database?.remove, () => target?.close()), 180_000)

  it('runs ai and container tasks that kubectl applied, with their results and logs on every replica [MODE-008, MODE-010, TASK-002]', async () => {
    await applyTasks(service, [
      makeTask('kubectl-ai', { type: 'ai', agentRef: { name: 'writer' }, prompt: 'say the word' }),
      makeCommand('kubectl-command', 'console.log("uid", process.getuid())'),
    ])
    const ai = await waitForPhase('kubectl-ai', 'Succeeded')
    expect(ai.status?.usage).toMatchObject({ llmCalls: 1 })
    await waitForPhase('kubectl-command', 'Succeeded')
    const pods = await service.pods()
    expect(pods).toHaveLength(2)
    for (const pod of pods) {
      const path = (rest: string) => `/api/v1/tasks/${rest}?namespace=${service.tasks}`
      const result = await service.call<{ result: string }>('GET', path('kubectl-ai/result'), undefined, pod)
      expect(JSON.stringify(result.body)).toContain('The word is tulip.')
      const logs = await service.call<{ logs: string }>('GET', path('kubectl-command/logs'), undefined, pod)
      expect(logs.body.logs).toMatch(/uid 1000/)
    }
  })

  it('keeps the files that a command leaves, and removes its pod', async () => {
    const script = 'require("node:fs").writeFileSync("/out/report.txt", "made in a pod"); process.exit(3)'
    const spec = { type: 'container', image, command: ['node', '-e', script], artifactsDir: '/out' }
    await applyTasks(service, [makeTask('leaves-files', spec)])
    await waitForPhase('leaves-files', 'Failed')
    const path = `/api/v1/tasks/leaves-files/artifacts`
    const list = await service.call<{ items: { filename: string; size: number }[] }>(
      'GET',
      `${path}?namespace=${service.tasks}`,
    )
    expect(list.body.items).toMatchObject([{ filename: 'report.txt' }])
    await waitFor(async () => (await countLeftovers()) === 0, 'every Job and pod being gone')
  })

  it('treats tasks alike, whether they come from kubectl or REST', async () => {
    for (const [name, spec] of [
      ['rest-ai', { type: 'ai', agentRef: { name: 'writer' }, prompt: 'say the word' }],
      ['rest-command', { type: 'container', image, command: ['node', '-e', 'console.log("uid", process.getuid())'] }],
    ] as const) {
      const body = { metadata: { name, namespace: service.tasks }, spec }
      expect((await service.call('POST', '/api/v1/tasks', body)).status).toBe(201)
      await waitForPhase(name, 'Succeeded')
    }
    for (const kind of ['ai', 'command']) {
      const [one, other] = [await readTask(`kubectl-${kind}`), await readTask(`rest-${kind}`)]
      expect(describeEnd(other)).toEqual(describeEnd(one))
      expect(other.spec).toEqual(one.spec)
    }
  })

  it('fails tasks whose command fails, with a message that says so', async () => {
    const spec = { type: 'container', image: 'registry.invalid/nothing:none', command: ['true'] }
    // The kubelet tries the image again and again, which takes a minute: the end of that task is looked at below.
    await applyTasks(service, [makeCommand('broken', 'process.exit(3)'), makeTask('no-image', spec)])
    const broken = await waitForPhase('broken', 'Failed')
    expect(broken.status?.message).toMatch(/3/)
  })

  it('lets a caller do what its role allows and no more [AUTH-014]', async () => {
    const list = await service.call('GET', `/api/v1/tasks?namespace=${service.tasks}`)
    expect(list.status).toBe(200)
    const other = await service.call<{ error: { message: string } }>('GET', '/api/v1/tasks?namespace=default')
    expect(other.status).toBe(403)
    const secret = { name: 'made', namespace: service.tasks, stringData: { key: 'value' } }
    expect((await service.call('POST', '/api/v1/secrets', secret)).status).toBe(201)
    const removal = await service.call('DELETE', `/api/v1/secrets/made?namespace=${service.tasks}`)
    expect(removal.status).toBe(403)
  })

  it('closes the config map of a task with a Secret to those who may not read that', async () => {
    const namespace = service.tasks
    const write = async (text: string) => {
      const words = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'words' }, data: { text } }
      const args = ['apply', '--server-side', '--force-conflicts', '--as', 'writer-of-words', '-f', '-']
      return (await runKubectl(args, { input: JSON.stringify(words), namespace })).stderr
    }
    await kubectl(['create', 'role', 'words', '--verb=get,create,patch', '--resource=configmaps'], { namespace })
    await kubectl(['create', 'rolebinding', 'words', '--role=words', '--user=writer-of-words'], { namespace })
    expect(await write('kind')).toBe('')
    const env = [{ name: 'WORD', valueFrom: { configMapKeyRef: { name: 'words', key: 'text' } } }]
    const spec = { type: 'container', image, command: ['sleep', '600'], env, secretRef: { name: 'vendor' } }
    await applyTasks(service, [makeTask('of-words', spec)])
    await waitForPhase('of-words', 'Running')
    const isRefused = async () => (await write('cruel')).includes('part of a task that has not ended')
    await waitFor(isRefused, 'the policy being learnt of', 60_000)
    await kubectl(['delete', 'task', 'of-words'], { namespace })
    await waitFor(async () => (await write('kinder')) === '', 'the writer being let in', 60_000)
  })

  it('lets one of two who join a session by two replicas at once in, where neither may read the Secret of the other', async () => {
    const namespace = service.tasks
    const pods = await service.pods()
    expect(pods).toHaveLength(2)
    const joiners = await Promise.all(
      ['ann', 'bob'].map(async (name, at) => {
        const [account, subject] = [{ namespace }, `--serviceaccount=${namespace}:${name}`]
        await kubectl(['create', 'serviceaccount', name], account)
        await kubectl(['create', 'secret', 'generic', name, '--from-literal=key=made-up'], account)
        const rule = ['--verb=get', '--resource=secrets', `--resource-name=${name}`]
        await kubectl(['create', 'role', name, ...rule], account)
        await kubectl(['create', 'rolebinding', name, `--role=${name}`, subject], account)
        const role = `--clusterrole=${service.namespace}-${release}-editor`
        await kubectl(['create', 'rolebinding', `${name}-edits`, role, subject], account)
        const token = (await kubectl(['create', 'token', name], account)).trim()
        const { call } = openCalls(service.namespace, token, 'http')
        return (session: string) => {
          const sessionRef = { name: session, create: true }
          const spec = { type: 'ai', prompt: 'say the word', suspend: true, secretRef: { name }, sessionRef }
          const body = { metadata: { name: `${session}-${name}`, namespace }, spec }
          return call<{ error?: { message: string } }>('POST', '/api/v1/tasks', body, pods[at])
        }
      }),
    )
    for (let round = 0; round < 12; round += 1) {
      const answers = await Promise.all(joiners.map((join) => join(`joined-${round}`)))
      const refused = answers.find(({ status }) => status === 403)
      expect(answers.map(({ status }) => status).toSorted(), JSON.stringify(answers)).toEqual([201, 403])
      expect(refused?.body.error?.message).toContain('use another session')
    }
    const rest = (await readTasks()).map(({ metadata }) => metadata.name).filter((name) => name.startsWith('joined-'))
    expect(rest).toHaveLength(12)
    await kubectl(['delete', 'task', ...rest], { namespace })
  }, 180_000)

  it('continues when the leader is killed with tasks in every phase', async () => {
    await applyTasks(service, [
      ...[1, 2, 3].map((index) => makeCommand(`long-${index}`, 'setTimeout(() => console.log("done"), 15000)')),
      makeTask('waiting', { type: 'ai', agentRef: { name: 'not-there-yet' }, prompt: 'say the word' }),
      makeTask('later', { type: 'container', image, command: ['true'], schedule: '0 0 1 1 *' }),
      makeCommand('cancelled', 'setTimeout(() => undefined, 600000)'),
    ])
    await waitForPhase('long-3', 'Running')
    await waitForPhase('cancelled', 'Running')
    const cancel = `/api/v1/tasks/cancelled/cancel?namespace=${service.tasks}`
    expect((await service.call('POST', cancel, {})).status).toBeLessThan(300)
    const leader = await waitFor(() => service.leader(), 'somebody leading')
    const killedAt = Date.now()
    await kubectl(['delete', 'pod', leader, '--grace-period=0', '--force'], { namespace: service.namespace })
    await waitFor(async () => {
      const next = await service.leader()
      return next !== undefined && next !== leader
    }, 'another replica leading')
    expect(Date.now() - killedAt).toBeLessThan(10_000)
    await waitForPhase('waiting', 'Pending')
    await applyTasks(service, [makeAgent('not-there-yet')])
    await waitForPhase('waiting', 'Succeeded')
    for (const index of [1, 2, 3]) {
      const task = await waitForPhase(`long-${index}`, 'Succeeded')
      expect(task.status?.attempts).toBe(1)
    }
    await waitForPhase('cancelled', 'Cancelled')
    await waitForPhase('later', 'Scheduled')
    expect((await readTask('kubectl-ai')).status?.phase).toBe('Succeeded')
    await kubectl(['delete', 'task', 'later'], { namespace: service.tasks })
    await waitFor(async () => (await countLeftovers()) === 0, 'every Job and pod being gone')
  })

  it('loses no request and no task in a rolling restart', async () => {
    const restart = kubectl(['rollout', 'restart', 'deployment/svc'], { namespace: service.namespace })
    await restart
    let made = 0
    const failures: unknown[] = []
    const finished = kubectl(['rollout', 'status', 'deployment/svc', '--timeout=120s'], {
      namespace: service.namespace,
    })
    let isRolling = true
    void finished.finally(() => {
      isRolling = false
    })
    while (isRolling) {
      const pod = (await service.pods()).find(({ isReady }) => isReady)
      const spec = { type: 'container', image, command: ['true'] }
      const body = { metadata: { name: `rolling-${made}`, namespace: service.tasks }, spec }
      const answer = await service.call('POST', '/api/v1/tasks', body, pod).catch((error: unknown) => error)
      if ((answer as { status?: number }).status === 201) made += 1
      else failures.push(answer)
      await pause(500)
    }
    await finished
    expect(failures).toEqual([])
    for (let index = 0; index < made; index += 1) await waitForPhase(`rolling-${index}`, 'Succeeded')
  }, 300_000)

  it('fails tasks whose image cannot be had, with a message that says so, whoever led meanwhile', async () => {
    const missing = await waitForPhase('no-image', 'Failed', 180_000)
    expect(missing.status?.message).toMatch(/image|pull/i)
  })

  it('keeps records when PostgreSQL restarts, and says so while it is away', async () => {
    const result = `/api/v1/tasks/kubectl-ai/result?namespace=${service.tasks}`
    await database.server.stop('immediate')
    try {
      expect((await service.call('GET', result, undefined, (await service.pods())[0])).status).toBe(503)
    } finally {
      await database.server.start()
    }
    await waitFor(async () => (await service.call('GET', result)).status === 200, 'the result being read again')
    await applyTasks(service, [makeCommand('after-restart', 'console.log("here")')])
    await waitForPhase('after-restart', 'Succeeded')
  })

  describe('a host that no list names', () => {
    const network = { allow: ['none.example'], onUnknown: 'ask' }
    const [asked, declined] = [/^a person is asked whether /, /^a person has declined /]
    const command = (name: string) => {
      const env = [{ name: 'TARGET', value: targetName }]
      return makeTask(name, { type: 'container', image, command: ['node', '-e', keepTrying], env, network })
    }
    const program = (name: string) => {
      const script = `TARGET=${targetName} node -e '${keepTrying.trim()}'`
      return makeTask(name, { type: 'agent', agentRef: { name: 'shell' }, prompt: script })
    }
    const inTasks = (path: string, query = '') => `/api/v1/${path}?namespace=${service.tasks}${query}`

    /** What waits for an answer, beside what was answered before. */
    const findQuestion = (name: string, before?: ApprovalItem) =>
      waitFor(async () => {
        const path = inTasks('approvals', `&status=pending&taskName=${name}`)
        const { body } = await service.call<{ items: ApprovalItem[] }>('GET', path)
        return body.items.find(({ id }) => id !== before?.id)
      }, `a question of ${name}`)

    async function answer({ id }: ApprovalItem, ...words: string[]): Promise<void> {
      const [pod] = await service.pods()
      const { PATH = '', HOME = '' } = process.env
      const env = { PATH, HOME, SVC_SERVER: `http://${pod?.ip}:8080`, SVC_TOKEN: service.token }
      const [verb = '', ...flags] = words
      const end = await launchSvc(['approvals', verb, id, ...flags, '--namespace', service.tasks], env)
      expect(end).toMatchObject({ code: 0 })
    }
    const readLines = async (name: string, from: 'logs' | 'result') => {
      const { body } = await service.call<{ logs: string; result: string }>('GET', inTasks(`tasks/${name}/${from}`))
      return String(body[from]).trim().split('\n')
    }

    it('is reached by a pod as far as a person answers: once, then by all of the task', async () => {
      await applyTasks(service, [command('asks'), command('refused')])
      const first = await findQuestion('asks')
      expect(first.message).toBe(`May it reach ${targetName}?`)
      await answer(await findQuestion('refused'), 'decline')
      await answer(first, 'approve', '--for', 'once')
      await answer(await findQuestion('asks', first), 'approve', '--for', 'task')
      for (const name of ['asks', 'refused']) await waitForPhase(name, 'Succeeded')
      const [question, again] = [expect.stringMatching(asked), expect.stringMatching(asked)]
      expect(await readLines('asks', 'logs')).toEqual([question, 'reached', again, 'reached'])
      expect(await readLines('refused', 'logs')).toEqual([question, expect.stringMatching(declined)])
      const { body } = await service.call<TaskNetwork>('GET', inTasks('tasks/asks/network'))
      expect(body.hosts).toMatchObject([{ connections: 4, allowedBy: 'approval' }])
    })

    it('is reached by all tasks of an agent once that is answered for always', async () => {
      const spec = { runtime: { runtimeRef: { name: 'shell' } }, model: { name: 'vendor/test-model' }, network }
      const namespace = service.tasks
      const subject = `--serviceaccount=${namespace}:builder`
      const rules = [{ apiGroups: ['core.svc.ai'], resources: ['networks'], verbs: ['update'] }]
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'networks' }, rules }
      await applyTasks(service, [role])
      await kubectl(['create', 'rolebinding', 'networks', '--role=networks', subject], { namespace })
      await applyTasks(service, [{ apiVersion, kind: 'Agent', metadata: { name: 'shell' }, spec }, program('first')])
      await answer(await findQuestion('first'), 'approve', '--for', 'always')
      await waitForPhase('first', 'Succeeded')
      await applyTasks(service, [program('second')])
      await waitForPhase('second', 'Succeeded')
      expect(await readLines('second', 'result')).toEqual(['reached'])
    })
  })

  it(`runs ${crowdSize} tasks that were created while nobody led, once each`, async () => {
    const { namespace } = service
    await kubectl(['scale', 'deployment/svc', '--replicas=0'], { namespace })
    await waitFor(async () => (await service.pods()).length === 0, 'every replica being gone')
    const names = Array.from({ length: crowdSize }, (_, index) => `crowd-${index}`)
    await applyTasks(
      service,
      names.map((name) => makeTask(name, { type: 'container', image, command: ['true'] })),
    )
    await kubectl(['scale', 'deployment/svc', '--replicas=2'], { namespace })
    const crowd = async () => (await readTasks()).filter(({ metadata }) => metadata.name.startsWith('crowd-'))
    await waitFor(
      async () => (await crowd()).every(({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed'),
      'all of them being over',
      400_000,
    )
    const ends = (await crowd()).map(({ status }) => `${status?.phase} ${status?.attempts}`)
    expect(new Set(ends)).toEqual(new Set(['Succeeded 1']))
    await waitFor(async () => (await countLeftovers()) === 0, 'every Job and pod being gone')
  }, 500_000)

  it('can be removed while its tasks exist, and later deletions do not hang [TASK-064]', async () => {
    await applyTasks(service, [makeCommand('left', 'setTimeout(() => undefined, 600000)')])
    await waitForPhase('left', 'Running')
    const { tasks, remove } = service
    service = { ...service, remove: async () => undefined }
    await remove()
    let last = ''
    const isGone = async () => {
      last = await kubectl(['get', 'namespace', tasks, '--ignore-not-found', '-o', 'jsonpath={.status}'])
      return last === ''
    }
    // Kubernetes looks again after twice the time, each time: a pod that ends a second too late for one look waits for the next.
    await waitFor(isGone, 'the namespace being gone', 200_000).catch((error: unknown) => {
      throw new Error(`${error}; it is ${last}`)
    })
  }, 360_000)
})

/** What of a finished task does not depend on when it ran. */
function describeEnd({ status }: Task) {
  const { phase, attempts, message, conditions, usage, resultRef } = status ?? {}
  return {
    phase,
    attempts,
    message,
    conditions: conditions?.map(({ type, status: is, reason }) => [type, is, reason]),
    usage,
    resultRef,
  }
}
