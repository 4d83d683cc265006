// Container tasks from creation to every way they can end, over REST, in the real program.
import { createHmac } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Task } from '../../src/contract/kinds/tasks/task.ts'
import { waitFor } from '../fixtures/time.ts'
import {
  createTask,
  findProcesses,
  getTask,
  readResult,
  removeFolder,
  runSvc,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ flags: ['--allow-network', '127.0.0.0/8', '--max-concurrent-tasks', '2'] })
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
})

const command = (script: string, more: object = {}) => ({ type: 'container', command: ['bash', '-c', script], ...more })

type TimelineItem = { id: number; type: string; phase?: string; message: string; attempt: number }
async function listEvents(name: string): Promise<TimelineItem[]> {
  const answer = await service.call<{ items: TimelineItem[] }>('GET', `/api/v1/tasks/${name}/events`)
  return answer.body.items.toReversed()
}

describe('a container task without an image', () => {
  it('runs in the sandbox; its output is its log and its result [MODE-003, TASK-026]', async () => {
    await createTask(service, 'plain', command('echo out; echo err >&2'))
    const task = await waitForPhase(service, 'plain', 'Succeeded')
    expect(task.status).toMatchObject({ attempts: 1, resultRef: { available: true } })
    expect(await readResult(service, 'plain')).toBe('out\n')
    const logs = await service.call<{ logs: string }>('GET', '/api/v1/tasks/plain/logs')
    expect(logs.body.logs.split('\n').toSorted().join()).toContain('err')
  })

  it('keeps logs after completion that differ from the result [TASK-050, TASK-051]', async () => {
    await createTask(service, 'differs', command('echo for the log >&2; echo for the result'))
    await waitForPhase(service, 'differs', 'Succeeded')
    const logs = await service.call<{ logs: string }>('GET', '/api/v1/tasks/differs/logs')
    expect(logs.body.logs).toContain('for the log')
    expect(await readResult(service, 'differs')).toBe('for the result\n')
  })

  it('has a log by stream, with times, of the last minutes', async () => {
    await createTask(service, 'both-streams', command('echo the output; echo the complaint >&2'))
    await waitForPhase(service, 'both-streams', 'Succeeded')
    const show = async (...flags: string[]) =>
      (await runSvc(['task', 'logs', 'both-streams', ...flags], service.env)).stdout
    expect(await show('--stderr')).toBe('the complaint\n')
    expect(await show('--stderr', '--since', '5m', '--timestamps', '--attempt', '1')).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z the complaint\n$/,
    )
    expect(await show('--since', '2099-01-01T00:00:00Z')).toBe('')
    expect(await show('--follow', '--stderr')).toBe('the complaint\n')
  })

  it('sees neither the data nor the config folder, in a pid namespace of its own [SAND-001, SAND-002]', async () => {
    const look = `ls -a ${service.folder} 2>&1 || true; echo "pids: $(ls -d /proc/[0-9]* | wc -l)"; cat /proc/1/cmdline | tr '\\0' ' '`
    await createTask(service, 'looks', command(look))
    await waitForPhase(service, 'looks', 'Succeeded')
    const seen = await readResult(service, 'looks')
    expect(seen).not.toContain('svc.db')
    expect(seen).not.toContain('secret.key')
    expect(Number(/pids: (\d+)/.exec(seen)?.[1])).toBeLessThan(10)
    expect(seen).not.toContain('bin/svc')
  })

  it('has nothing of the service’s environment', async () => {
    await createTask(service, 'environment', command('env', { env: [{ name: 'GIVEN', value: 'yes' }] }))
    await waitForPhase(service, 'environment', 'Succeeded')
    const seen = await readResult(service, 'environment')
    expect(seen).toContain('GIVEN=yes')
    expect(seen).not.toContain(service.folder)
    expect(seen).not.toMatch(/SVC_(?!TASK_)|VITEST/)
  })

  it('leaves no secret of its environment in log, result or message [SECRET-008]', async () => {
    const value = 'a-made-up-password-of-the-test'
    await service.call('POST', '/api/v1/secrets', { name: 'login', stringData: { password: value } })
    const env = [{ name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'login', key: 'password' } } }]
    const script = 'echo "got $PASSWORD"; echo "$PASSWORD" | base64; echo "refused: $PASSWORD" >&2; exit 3'
    await createTask(service, 'discreet', command(script, { env }))
    const task = await waitForPhase(service, 'discreet', 'Failed')
    const logs = await service.call<{ logs: string }>('GET', '/api/v1/tasks/discreet/logs')
    expect(logs.body.logs).toContain('got [REDACTED]')
    const events = await service.call('GET', '/api/v1/tasks/discreet/events')
    const seen = JSON.stringify([task, logs.body, events.body])
    expect(seen).not.toContain(value)
    expect(seen).not.toContain(Buffer.from(value).toString('base64').slice(0, 20))
  })

  it('fails with its exit code in the message [TASK-046]', async () => {
    await createTask(service, 'fails', command('echo partly; exit 7'))
    const task = await waitForPhase(service, 'fails', 'Failed')
    expect(task.status?.message).toContain('7')
    expect(task.status?.attempts).toBe(1)
  })

  it('is tried again as often as its policy says, and no more [TASK-042]', async () => {
    await createTask(service, 'retried', command('exit 1', { retryPolicy: { maxRetries: 2, initialDelay: '50ms' } }))
    const task = await waitForPhase(service, 'retried', 'Failed')
    expect(task.status?.attempts).toBe(3)
  })

  it('fails at its timeout and is not tried again', async () => {
    await createTask(service, 'slow', command('sleep 60', { timeout: '500ms', retryPolicy: { maxRetries: 3 } }))
    const task = await waitForPhase(service, 'slow', 'Failed')
    expect(task.status?.message).toMatch(/timed out/)
    expect(task.status?.attempts).toBe(1)
  })

  it('is cancelled while it runs, also when it ignores TERM [TASK-037]', async () => {
    await createTask(
      service,
      'stubborn',
      command('trap "" TERM; for i in $(seq 600); do sleep 0.1; done # mark-stubborn'),
    )
    await waitForPhase(service, 'stubborn', 'Running')
    const answer = await service.call('POST', '/api/v1/tasks/stubborn/cancel', { reason: 'not needed' })
    expect(answer.status).toBe(200)
    const task = await waitForPhase(service, 'stubborn', 'Cancelled')
    expect(task.status?.message).toContain('not needed')
    await waitFor(() => findProcesses('mark-stubborn').length === 0, 'its processes to be gone')
    await createTask(service, 'over', command('true'))
    await waitForPhase(service, 'over', 'Succeeded')
    expect((await service.call('POST', '/api/v1/tasks/over/cancel', {})).status).toBe(409)
  })

  it('is stopped first and then removed by DELETE, with its records [TASK-024, TASK-038]', async () => {
    await createTask(service, 'removed', command('echo begun; sleep 100 # mark-removed'))
    const task = await waitForPhase(service, 'removed', 'Running')
    expect((await service.call('DELETE', '/api/v1/tasks/removed')).status).toBe(204)
    await waitFor(
      async () => (await service.call('GET', '/api/v1/tasks/removed')).status === 404,
      'the task to be gone',
    )
    expect(findProcesses('mark-removed')).toEqual([])
    const next = await createTask(service, 'removed', command('echo anew'))
    expect(next.metadata.uid).not.toBe(task.metadata.uid)
    await waitForPhase(service, 'removed', 'Succeeded')
    expect(await readResult(service, 'removed')).toBe('anew\n')
    const logs = await service.call<{ logs: string }>('GET', '/api/v1/tasks/removed/logs')
    expect(logs.body.logs).not.toContain('begun')
  })

  it('leaves no process behind, not even one that it forked away', async () => {
    await createTask(
      service,
      'forks',
      command('(setsid sleep 200 mark-forked >/dev/null 2>&1 &) ; exec -a mark-forked sleep 0.1'),
    )
    await waitForPhase(service, 'forks', 'Succeeded', 'Failed')
    await waitFor(() => findProcesses('mark-forked').length === 0, 'its forks to be gone')
  })

  it('keeps the end of a flood of output and stays responsive', async () => {
    await createTask(
      service,
      'floods',
      command('for i in $(seq 1 300000); do echo "line $i of a rather long flood of output"; done'),
    )
    await waitForPhase(service, 'floods', 'Succeeded')
    const tail = await service.call<{ logs: string }>('GET', '/api/v1/tasks/floods/logs?tailLines=1')
    expect(tail.body.logs).toContain('line 300000')
    expect((await readResult(service, 'floods')).length).toBeLessThan(6 * 1024 * 1024)
  })
})

describe('the timeline', () => {
  it('has every transition in order, without gaps [TASK-047]', async () => {
    await createTask(service, 'timeline', command('exit 1', { retryPolicy: { maxRetries: 1, initialDelay: '10ms' } }))
    await waitForPhase(service, 'timeline', 'Failed')
    const events = await listEvents('timeline')
    const phases = events.flatMap((event) => (event.phase ? [event.phase] : []))
    expect(phases.at(-1)).toBe('Failed')
    expect(phases.filter((phase) => phase === 'Running')).toHaveLength(2)
    expect(events.map((event) => event.id)).toEqual(events.map((_, index) => index + 1))
  })

  it('is followed as an event stream that ends [TASK-048]', async () => {
    await createTask(service, 'followed', command('sleep 0.3'))
    const response = await fetch(`${service.url}/api/v1/tasks/followed/events?follow=true`, {
      headers: { authorization: `Bearer ${service.token}` },
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const stream = await response.text()
    expect(stream).toContain('"Succeeded"')
    expect(stream.trimEnd().split('\n\n').at(-1)).toContain('event: end')
  })
})

describe('logs with follow=true', () => {
  it('stream with ids, resume after Last-Event-ID and end [TASK-025, TASK-052, TASK-053]', async () => {
    await createTask(service, 'streams', command('for i in 1 2 3 4 5; do echo line $i; sleep 0.1; done'))
    const follow = (headers: Record<string, string>) =>
      fetch(`${service.url}/api/v1/tasks/streams/logs?follow=true`, {
        headers: { authorization: `Bearer ${service.token}`, ...headers },
      }).then((response) => response.text())
    await waitForPhase(service, 'streams', 'Running', 'Succeeded')
    const whole = await follow({})
    expect(whole.match(/data: line \d/g)).toHaveLength(5)
    const third = /id: (\d+)\n(?:event: \w+\n)?data: line 3/.exec(whole)?.[1] ?? ''
    const rest = await follow({ 'last-event-id': third })
    expect(rest.match(/data: line \d/g)).toEqual(['data: line 4', 'data: line 5'])
    expect(rest).toContain('event: end')
  })
})

describe('order and limits', () => {
  it('start by priority, highest first, then by age [TASK-039]', async () => {
    const blockers = ['block-a', 'block-b']
    for (const name of blockers) await createTask(service, name, command('sleep 2'))
    for (const name of blockers) await waitForPhase(service, name, 'Running')
    for (const [name, priority] of [
      ['low', 100],
      ['high', 900],
      ['middle', 500],
    ] as const) {
      await createTask(service, name, command('sleep 0.2', { priority }))
    }
    const started = await Promise.all(
      ['high', 'middle', 'low'].map(async (name) => (await waitForPhase(service, name, 'Succeeded')).metadata.name),
    )
    expect(started).toHaveLength(3)
    const moments = await Promise.all(
      ['high', 'middle', 'low'].map(async (name) => {
        const events = (
          await service.call<{ items: { phase?: string; createdAt: string }[] }>('GET', `/api/v1/tasks/${name}/events`)
        ).body
        return events.items.find((event) => event.phase === 'Running')?.createdAt ?? ''
      }),
    )
    expect(moments).toEqual(moments.toSorted())
  })
})

describe('a scheduled task', () => {
  it('makes runs of its own, named after the tick, and stays Scheduled', async () => {
    await createTask(service, 'ticks', command('echo tick', { schedule: '@every 1s' }))
    const children = await waitFor(async () => {
      const list = await service.call<{ items: Task[] }>('GET', '/api/v1/tasks/ticks/children')
      return list.body.items.some((child) => child.status?.phase === 'Succeeded') ? list.body.items : undefined
    }, 'a run of the schedule')
    expect(children[0]?.metadata.name).toMatch(/^ticks-\d{10}$/)
    expect(children[0]?.metadata.labels?.['svc.ai/scheduled-run']).toBe('true')
    const parent = await getTask(service, 'ticks')
    expect(parent.status).toMatchObject({ phase: 'Scheduled' })
    expect(parent.status?.nextScheduleTime).toBeDefined()
    await service.call('DELETE', '/api/v1/tasks/ticks')
    await waitFor(async () => {
      const list = await service.call<{ items: Task[] }>('GET', '/api/v1/tasks?labelSelector=svc.ai/scheduled-run=true')
      return list.body.items.length === 0
    }, 'its runs to be removed with it')
  })
})

describe('a completion callback', () => {
  let receiver: Server
  const received: { headers: Record<string, unknown>; body: string }[] = []
  let refusals = 1
  beforeAll(async () => {
    receiver = createServer(async (request, response) => {
      const body = await text(request)
      if (refusals-- > 0) {
        response.writeHead(503).end()
        return
      }
      received.push({ headers: request.headers, body })
      response.writeHead(204).end()
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => receiver.close())

  it('is signed, tried again after a refusal and shown in status [TASK-055, TASK-056, TASK-057]', async () => {
    const secret = 'callback-secret-for-the-test'
    await service.call('POST', '/api/v1/secrets', { name: 'svc-callback-signing', stringData: { secret } })
    const { port } = receiver.address() as AddressInfo
    await createTask(service, 'called-back', command('true', { webhookURL: `http://127.0.0.1:${port}/done` }))
    await waitForPhase(service, 'called-back', 'Succeeded')
    await waitFor(() => received.length === 1, 'the callback')
    const [call] = received
    const expected = `sha256=${createHmac('sha256', secret)
      .update(call?.body ?? '')
      .digest('hex')}`
    expect(call?.headers['x-svc-signature-256']).toBe(expected)
    expect(JSON.parse(call?.body ?? '')).toMatchObject({ taskName: 'called-back', phase: 'Succeeded' })
    const task = await waitFor(async () => {
      const current = await getTask(service, 'called-back')
      return current.status?.webhookDelivered ? current : undefined
    }, 'the delivery to be shown')
    expect(task.status?.webhook).toMatchObject({ attempts: 2 })
  })
})
