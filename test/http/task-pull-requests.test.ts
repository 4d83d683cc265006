// The pull request of a branch that a task has pushed, opened without a model.
import { Readable } from 'node:stream'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CodeHostServer } from '../fixtures/codehost/server.ts'
import { useHostedService } from './hosted-service.ts'
import type { Service } from './service.ts'

const full = 'acme/site'
let codeHost: CodeHostServer
let service: Service
let count = 0

const hosted = useHostedService(full)
beforeAll(() => {
  ;({ codeHost, service } = hosted)
})

type Made = { result?: object; phase?: 'Succeeded' | 'Running'; workspace?: object }

/** A task that pushed a branch of its own, unless told otherwise. */
async function makeTask({ result = {}, phase = 'Succeeded', workspace = {} }: Made = {}) {
  count += 1
  const [name, branch] = [`fix-${count}`, `svc/fix-${count}`]
  const main = (await codeHost.call('acme', 'GET', `/repos/${full}/git/ref/heads/main`)).object as { sha: string }
  await codeHost.call('acme', 'POST', `/repos/${full}/git/refs`, { ref: `refs/heads/${branch}`, sha: main.sha })
  const spec = {
    type: 'ai',
    prompt: 'Fix the sum\nIt leaves out the last line.',
    workspace: {
      gitRepo: `https://github.com/${full}`,
      gitSecretRef: { name: 'forge' },
      pushBranch: branch,
      ...workspace,
    },
  }
  expect((await service.call('POST /api/v1/tasks', { payload: { metadata: { name }, spec } })).statusCode).toBe(201)
  const task = await service.setStatus('Task', name, { phase, attempts: 1 })
  const whole = { version: 1, summary: 'The last line counts.', branch: 'main', headSHA: main.sha, pushBranch: branch }
  const text = JSON.stringify({ ...whole, ...result })
  const key = { taskUid: task.metadata.uid, attempt: 1 }
  await service.ports.records.results.put(key, Readable.from([Buffer.from(text)]), 'application/json')
  return { name, branch }
}

const open = (name: string, payload: object = {}) =>
  service.call(`POST /api/v1/tasks/${name}/pull-request`, { payload })

async function pullsOf(branch: string) {
  const pulls = (await codeHost.call('acme', 'GET', `/repos/${full}/pulls?state=all&per_page=100`)) as unknown as {
    number: number
    title: string
    body: string
    draft: boolean
    head: { ref: string }
    base: { ref: string }
  }[]
  return pulls.filter(({ head }) => head.ref === branch)
}

describe('the pull request of a task', () => {
  it('takes what is left out from the task, and is opened once', async () => {
    const { name, branch } = await makeTask()
    const made = await open(name)
    expect([made.statusCode, made.json().status]).toEqual([200, 'created'])
    const [pull, ...more] = await pullsOf(branch)
    expect(more).toEqual([])
    expect(pull).toMatchObject({ title: 'Fix the sum', body: 'The last line counts.', base: { ref: 'main' } })
    expect((await open(name)).json()).toEqual({ ...made.json(), status: 'existing' })
    const events = (await service.call(`GET /api/v1/tasks/${name}/events`)).json().items
    expect(events.map(({ type }: { type: string }) => type)).toContain('PullRequestOpened')
  })

  it('has the title, the text and the state that are wanted', async () => {
    const { name, branch } = await makeTask()
    expect((await open(name, { title: 'Sums', body: 'See there.', draft: true })).statusCode).toBe(200)
    expect(await pullsOf(branch)).toMatchObject([{ title: 'Sums', body: 'See there.', draft: true }])
  })

  it.each<[string, Made, number, RegExp]>([
    ['is running', { phase: 'Running' }, 409, /has not ended: it is Running/],
    ['was given no branch', { result: { pushBranch: undefined }, workspace: { pushBranch: undefined } }, 400, /--push/],
    ['changed nothing', { result: { pushBranch: undefined, headSHA: undefined } }, 400, /it changed nothing/],
    [
      'could not push',
      { result: { pushBranch: undefined, pushError: 'it is protected' } },
      400,
      /not pushed: it is protected/,
    ],
    ['pushed to the base', { result: { pushBranch: 'main' } }, 400, /pushed to main itself/],
    ['has no login', { workspace: { gitSecretRef: undefined } }, 400, /workspace.gitSecretRef/],
  ])('is refused for a task that %s', async (_what, made, status, words) => {
    const { name, branch } = await makeTask(made)
    const answer = await open(name)
    expect([answer.statusCode, answer.json().error.message]).toEqual([status, expect.stringMatching(words)])
    expect(await pullsOf(branch)).toEqual([])
  })
})
