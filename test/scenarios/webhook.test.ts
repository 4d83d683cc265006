// The webhook of the built program: kill -9 while deliveries come, and what a person sees of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { issue, issueEvent, label, makeDelivery, makeSecret } from '../fixtures/codehost/deliveries.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import { makeFolder, removeFolder, runSvc, type Service, startService } from './service.ts'

const secret = makeSecret()
const folder = makeFolder()
const env = {
  SVC_CODEHOST_WEBHOOK_SECRET: secret,
  SVC_CODEHOST_LABEL_TRIGGER_AGENT: 'builder',
  SVC_CODEHOST_LABEL_AGENT_REVIEW: 'reviewer',
}
// None of the tasks runs: only that they are made is looked at.
const flags = ['--max-concurrent-tasks', '1']
let service: Service

beforeAll(async () => {
  service = await startService({ folder, env, flags })
  await service.call('POST', '/api/v1/agents', { name: 'builder', spec: { runtime: { type: 'llma-cli' } } })
})
afterAll(async () => {
  await service.stop()
  removeFolder(folder)
})

type Answer = { status: number; body: { status?: string; taskName?: string; error?: { message: string } } }

async function send(sent: { event: string; payload: unknown; id?: string }): Promise<Answer> {
  const { payload, headers } = makeDelivery({ ...sent, secret })
  const answer = await fetch(`${service.url}/webhooks/codehost`, { method: 'POST', body: payload, headers })
  return { status: answer.status, body: (await answer.json()) as Answer['body'] }
}

const asked = (number: number) => issueEvent('labeled', { ...label('agent:implement'), issue: issue(number) })

/** Deliveries, eight at a time, until the service is killed soon after the first answer; the ids that were answered. */
async function deliverUntilDeath(round: number): Promise<string[]> {
  const answered: string[] = []
  let next = 0
  let dying: Promise<void> | undefined
  const die = () => pause(((round / 1.618_033_988_75) % 1) * 300).then(() => service.kill())
  const deliver = async () => {
    for (let at = next++; at < 400; at = next++) {
      const id = `r${round}-d${at}`
      try {
        const { status } = await send({ ...asked(round * 1000 + at + 1), id })
        dying ??= die()
        expect([201, 202]).toContain(status)
        answered.push(id)
      } catch (error) {
        if (error instanceof TypeError) return
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: 8 }, deliver))
  await dying
  return answered
}

type Delivery = { id: string; state: string; outcome: { taskName?: string } }

describe('kill -9 while deliveries come', () => {
  it('loses none that was answered and makes no task twice [HOOK-008]', async () => {
    const answered: string[] = []
    for (let round = 1; round <= 6; round += 1) {
      answered.push(...(await deliverUntilDeath(round)))
      service = await startService({ folder, env, flags })
    }
    expect(answered.length).toBeGreaterThan(0)
    const names = new Set<string>()
    for (const id of answered) {
      const ended = await waitFor(async () => {
        const { status, body } = await service.call<Delivery>('GET', `/api/v1/webhook/deliveries/${id}`)
        expect([id, status]).toEqual([id, 200])
        return body.state === 'pending' ? undefined : body
      }, `delivery ${id} to be worked off`)
      expect([id, ended.state, ended.outcome.taskName]).toEqual([id, 'done', expect.any(String)])
      names.add(ended.outcome.taskName ?? '')
    }
    expect(names.size).toBe(answered.length)
    const again = await send({ ...asked(1), id: answered[0] ?? '' })
    expect(again.body.status).toBe('duplicate')
  }, 300_000)
})

describe('a person who wonders why nothing happened', () => {
  const svc = async (...args: string[]) => {
    const { stdout, stderr, code } = await runSvc(args, {
      ...service.env,
      SVC_TOKEN: service.token,
      SVC_SERVER: service.url,
    })
    return { text: stdout + stderr, code }
  }

  it('finds it in the list, and works it off again once the cause is gone', async () => {
    await send({ ...issueEvent('labeled', { ...label('agent:Review me'), issue: issue(9001) }), id: 'no-prefix-9001' })
    await send({ ...issueEvent('labeled', { ...label('bug'), issue: issue(9002) }), id: 'bug-9002' })
    const pulls = await svc('webhook', 'deliveries', '--number', '9002')
    expect(pulls.text).toContain('label bug has no prefix agent:')
    expect(pulls.text).toContain('octo/demo#9002')
    expect((await svc('webhook', 'get', 'bug-9002')).text).toContain('ignored: label bug has no prefix agent:')
    await service.call('DELETE', '/api/v1/agents/builder')
    const failed = await send({ ...asked(9003), id: 'failed-9003' })
    expect([failed.status, failed.body.error?.message]).toEqual([400, expect.stringContaining('agent "builder"')])
    const shown = await svc('webhook', 'get', 'failed-9003')
    expect(shown.text).toContain('agent "builder" does not exist')
    expect(shown.text).toContain('webhook redeliver failed-9003')
    await service.call('POST', '/api/v1/agents', { name: 'builder', spec: { runtime: { type: 'llma-cli' } } })
    const done = await svc('webhook', 'redeliver', 'failed-9003')
    expect([done.code, done.text]).toEqual([
      0,
      expect.stringMatching(/done: task codehost-implement-9003-\w+ was created/),
    ])
    const unknown = await svc('webhook', 'redeliver', 'nothing')
    expect([unknown.code, unknown.text]).not.toEqual([0, expect.anything()])
    expect((await svc('webhook', 'deliveries', '--state', 'odd')).text).toContain('Allowed choices')
  })

  it('finds a wrong secret there as well', async () => {
    const { payload, headers } = makeDelivery({ ...asked(9004), secret: makeSecret() })
    const answer = await fetch(`${service.url}/webhooks/codehost`, { method: 'POST', body: payload, headers })
    expect(answer.status).toBe(401)
    expect((await svc('webhook', 'deliveries', '--state', 'refused')).text).toContain('SVC_CODEHOST_WEBHOOK_SECRET')
  })
})

describe('one address', () => {
  it('serves every interface of the service [HTTP-001]', async () => {
    const statusOf = async (method: string, path: string, body?: object) =>
      (await service.call(method, path, body)).status
    expect(await statusOf('GET', '/api/v1/tasks')).toBe(200)
    expect(await statusOf('GET', '/api/v1/chat/config')).toBe(200)
    expect(await statusOf('GET', '/llma/v1/models')).toBeLessThan(404)
    expect(await statusOf('GET', '/llmo/v1/models')).toBeLessThan(404)
    expect(await statusOf('POST', '/webhooks/codehost', {})).toBe(401)
    expect(await statusOf('GET', '/internal/v1/plans/default/none')).toBe(401)
    expect(await statusOf('GET', '/healthz')).toBe(200)
    expect(await statusOf('GET', '/readyz')).toBe(200)
  })
})
