// What people ask for on a code host, from the label or comment to its end: the code host signs and sends the deliveries itself, the
// program checks real commits out, and Claude Code works through the service's own proxy.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasOpenssl } from '../fixtures/certificates.ts'
import { makeSecret } from '../fixtures/codehost/deliveries.ts'
import { startHookRelay } from '../fixtures/codehost/hook-relay.ts'
import { hasReviewer, reviewerHint, reviewerPath, startReviewer } from '../fixtures/codehost/reviewer.ts'
import { type CodeHostStand, openCodeHostStand } from '../fixtures/codehost/stand.ts'
import { waitFor } from '../fixtures/time.ts'
import { removeFolder, type Service, startService } from './service.ts'

const canRun = hasReviewer && hasOpenssl
const secret = makeSecret()
let stand: CodeHostStand
let reviewer: Awaited<ReturnType<typeof startReviewer>>
let service: Service
let relay: Awaited<ReturnType<typeof startHookRelay>>

beforeAll(async () => {
  if (!canRun) return
  stand = await openCodeHostStand({ entries: { 'README.md': '# Site\n' } })
  reviewer = await startReviewer()
  const trigger = ['--codehost-label-trigger-agent', 'builder', '--codehost-label-trigger-git-secret', 'login']
  service = await startService({
    flags: [...stand.flags, ...trigger],
    env: { ...stand.env, PATH: reviewerPath, SVC_CODEHOST_WEBHOOK_SECRET: secret },
  })
  const post = async (noun: string, body: object) =>
    expect((await service.call('POST', `/api/v1/${noun}`, body)).status).toBe(201)
  await post('secrets', { name: 'login', stringData: { token: stand.codeHost.tokenOf('writer') } })
  await post('secrets', { name: 'vendor', stringData: reviewer.secret })
  const spec = { runtime: { type: 'llma-cli' }, model: { name: 'test-model' }, secretRef: { name: 'vendor' } }
  await post('agents', { name: 'builder', spec })
  relay = await startHookRelay({ host: stand.codeHost, target: `${service.url}/webhooks/codehost`, secret })
  const config = { url: relay.url, secret, content_type: 'json' }
  await asOwner('POST', `/repos/${stand.full}/hooks`, { config, events: ['*'], active: true })
})
afterAll(async () => {
  relay?.close()
  await service?.stop()
  await reviewer?.stop()
  await stand?.close()
  if (service !== undefined) removeFolder(service.folder)
})

const asOwner = (method: string, path: string, body?: object) => stand.codeHost.call('acme', method, path, body)
const say = (number: number, body: string, login = 'acme') =>
  stand.codeHost.call(login, 'POST', `/repos/${stand.full}/issues/${number}/comments`, { body })
const openIssue = (title: string) => stand.codeHost.openIssue(stand.full, { title })

type Comment = { id: number; body: string; user: { login: string } }
const answers = async (number: number) => {
  const all = (await asOwner('GET', `/repos/${stand.full}/issues/${number}/comments`)) as unknown as Comment[]
  return all.filter(({ user }) => user.login === 'writer')
}
const reactionsTo = ({ id }: object & { id?: unknown }) =>
  stand.codeHost.additions.reactions.get(`${stand.full}/comments/${id}`)?.map(({ content, user }) => [content, user])

type Task = { metadata: { name: string; labels: Record<string, string> }; status?: { phase: string; message?: string } }
const tasksOf = async (number: number) =>
  (await service.call<{ items: Task[] }>('GET', `/api/v1/tasks?labelSelector=svc.ai/codehost-number=${number}`)).body
    .items
const ended = (number: number) =>
  waitFor(async () => {
    const [task] = await tasksOf(number)
    return ['Succeeded', 'Failed'].includes(task?.status?.phase ?? '') && task
  }, `the task of #${number} to end`)
const answered = (number: number, text: string) =>
  waitFor(async () => (await answers(number)).find(({ body }) => body.includes(text)), `the answer to #${number}`)

describe.runIf(canRun)(`somebody on the code host${reviewerHint}`, () => {
  it('puts a label on an issue, and an agent works in its repository', async () => {
    const number = await openIssue('What is this?')
    await stand.codeHost.label(stand.full, number, ['agent:explain'])
    const task = await ended(number)
    expect(task.status).toMatchObject({ phase: 'Succeeded' })
    expect(task.metadata.labels).toMatchObject({
      'svc.ai/created-by': 'codehost-label',
      'svc.ai/codehost-action': 'explain',
    })
    expect(await tasksOf(number)).toHaveLength(1)
  })

  it('writes commands, and finds a reaction to each and one comment that tells of the last', async () => {
    const number = await openIssue('How does it work?')
    const first = await say(number, '/svc explain')
    const answer = await answered(number, 'has ended: Succeeded')
    expect(answer.body).toContain('ok')
    expect(reactionsTo(first)).toEqual([['eyes', 'writer']])
    const second = await say(number, '/svc stop')
    await answered(number, 'acme wrote /svc stop: 0 tasks were cancelled')
    expect(reactionsTo(second)).toEqual([['eyes', 'writer']])
    expect((await answers(number)).map(({ id }) => id)).toEqual([answer.id])
  })

  it('asks for a review, which looks at exactly the head of the pull request', async () => {
    const { number, head } = await stand.openPull({ entries: { 'README.md': '# Site\n\nMore.\n' } })
    await say(number, '/svc review')
    await answered(number, 'has ended: Succeeded')
    const [task] = await tasksOf(number)
    const { body } = await service.call<{ spec: { workspace: object } }>('GET', `/api/v1/tasks/${task?.metadata.name}`)
    expect(body.spec.workspace).toMatchObject({ gitRepo: `${stand.url}.git`, ref: head })
    expect(await answers(number)).toHaveLength(1)
  })

  it('has no say without the right to write', async () => {
    const number = await openIssue('May I?')
    const command = await say(number, '/svc explain', 'stranger')
    await waitFor(() => reactionsTo(command)?.length === 1, 'the reaction')
    expect(reactionsTo(command)).toEqual([['-1', 'writer']])
    expect([await tasksOf(number), await answers(number)]).toEqual([[], []])
  })
})
