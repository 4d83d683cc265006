// What only actors do, and how they fail, against a double of their service: gRPC, router and daemons that really run
// commands.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createEgress } from '../../../src/egress/egress.ts'
import { type WorkspaceClaim, WorkspaceError } from '../../../src/ports/workspaces/execution-workspaces.ts'
import { createActorControl } from '../../../src/runtime/actors/control.ts'
import { openDaemon } from '../../../src/runtime/actors/daemon.ts'
import { Refused } from '../../fixtures/actors/actor-world.ts'
import {
  type ActorsDouble,
  type OpenedActors,
  openActors,
  pool,
  startActors,
  workspaceTemplate,
} from '../../fixtures/actors/actors.ts'
import { startControlServer } from '../../fixtures/actors/control-server.ts'
import { dnsSuffix } from '../../fixtures/actors/router.ts'
import { waitFor } from '../../fixtures/time.ts'

let double: ActorsDouble
let opened: OpenedActors

beforeAll(async () => {
  double = await startActors()
  opened = openActors(double)
})
afterEach(async () => {
  double.control.setFault(() => undefined)
  double.router.setIntercept(() => false)
  await double.world.clear()
})
afterAll(async () => {
  await opened.close()
  await double.stop()
})

let count = 0
function makeClaim(rest: Partial<WorkspaceClaim> = {}): WorkspaceClaim {
  count += 1
  const template = { namespace: 'templates', name: 'agents' }
  return { name: `svc-ws-own-${count}`, namespace: 'team-a', template, labels: {}, ...rest }
}
const refOf = ({ namespace, name }: WorkspaceClaim, { installation } = opened) => ({
  atespace: namespace,
  name: `${name}-${installation}`,
})
const wait = (signal = new AbortController().signal) => ({ timeoutMs: 60_000, signal })

/** Why it was not ready when it was given up, which is after its second try: the first one has been told by then. */
async function givenUp(claim: WorkspaceClaim, tries: () => number, by = opened): Promise<WorkspaceError> {
  const given = new AbortController()
  const before = tries()
  const waiting = failureOf(by.workspaces.waitUntilReady(claim, wait(given.signal)))
  await waitFor(() => tries() > before + 1, 'it was tried twice')
  given.abort(new Error('given up'))
  return waiting
}
const callsOf = (name: string) => () => double.control.seen.filter(({ call }) => call === name).length

async function make(rest: Partial<WorkspaceClaim> = {}, by = opened) {
  const claim = makeClaim(rest)
  await by.workspaces.claim(claim)
  return { claim, ready: await by.workspaces.waitUntilReady(claim, wait()) }
}

async function failureOf(work: Promise<unknown>): Promise<WorkspaceError> {
  const error = await work.then(
    () => undefined,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(WorkspaceError)
  return error as WorkspaceError
}

const command = (id: string, script: string) => ({
  id,
  command: ['sh', '-c', script],
  env: {},
  timeoutSeconds: 60,
  maxOutputBytes: 100_000,
})

function ended(claim: WorkspaceClaim, id: string, by = opened) {
  return waitFor(async () => {
    const state = await by.workspaces.observeCommand(claim, id)
    return state.phase === 'Ended' ? state : undefined
  }, `${id} has ended`)
}

async function run(claim: WorkspaceClaim, script: string, by = opened): Promise<string> {
  count += 1
  await by.workspaces.start(claim, command(`run-${count}`, script))
  return (await ended(claim, `run-${count}`, by)).stdout
}

describe('an actor', () => {
  it('is booted from scratch when it is first resumed, and not again [WS-019]', async () => {
    const { claim } = await make({ boot: true })
    await opened.workspaces.suspend(claim)
    await opened.workspaces.waitUntilReady(claim, wait())
    expect(double.world.find(refOf(claim))?.boots).toEqual([true, false])
    const plain = await make()
    expect(double.world.find(refOf(plain.claim))?.boots).toEqual([false])
    for (const one of [claim, plain.claim]) await opened.workspaces.delete(one)
  })

  it('is suspended before it is deleted, and frees its worker', async () => {
    const { claim } = await make()
    double.control.seen.length = 0
    await opened.workspaces.delete(claim)
    expect(double.control.seen.map(({ call }) => call).filter((call) => call !== 'GetActor')).toEqual([
      'SuspendActor',
      'DeleteActor',
    ])
    expect(double.world.workers.filter(({ actor }) => actor !== undefined)).toEqual([])
  })

  it('is not woken by looking at it', async () => {
    const { claim } = await make()
    await opened.workspaces.suspend(claim)
    const { boots } = double.world.require(refOf(claim))
    const before = boots.length
    expect(await opened.workspaces.observe(claim)).toEqual({ phase: 'Suspended' })
    expect((await failureOf(opened.workspaces.observeCommand(claim, 'any'))).reason).toBe('WorkspaceLost')
    await opened.workspaces.stop(claim, 'any')
    expect(boots.length).toBe(before)
    await opened.workspaces.delete(claim)
  })

  it('that was suspended with a secret in it is woken to be scrubbed', async () => {
    const { claim } = await make()
    await opened.workspaces.stage(claim, [{ path: 'secret', bytes: Buffer.from('s'), mode: 0o600 }])
    await opened.workspaces.suspend(claim)
    await opened.workspaces.scrub(claim, ['secret'])
    expect(await run(claim, 'ls -A')).not.toContain('secret')
    await opened.workspaces.delete(claim)
  })

  it('knows its session by a token in a file, which is scrubbed', async () => {
    const by = openActors(double, { identity: 'required' })
    const { claim } = await make({}, by)
    expect(await run(claim, 'cat "$SVC_SESSION_IDENTITY_FILE"', by)).toBe(
      `header.svc.svc.agents.${claim.name}-${by.installation}`,
    )
    await by.workspaces.scrub(claim, [])
    expect(await run(claim, 'cat "$SVC_SESSION_IDENTITY_FILE" 2>/dev/null; ls -A .svc', by)).toBe('')
    await by.workspaces.delete(claim)
    await by.close()
  })

  it('without an identity goes on where none is required, and fails where one is', async () => {
    double.control.setFault((call) => (call === 'MintJWT' ? new Refused(7, 'not for you') : undefined))
    const lenient = openActors(double, { identity: 'wished' })
    const { claim } = await make({}, lenient)
    expect(lenient.faults.join()).toContain('not for you')
    await lenient.workspaces.delete(claim)
    const strict = openActors(double, { identity: 'required' })
    const other = makeClaim()
    await strict.workspaces.claim(other)
    const failed = await givenUp(other, callsOf('MintJWT'), strict)
    expect(failed).toMatchObject({ reason: 'ClaimTimeout', message: expect.stringContaining('has no identity') })
    await strict.workspaces.delete(other)
    await Promise.all([lenient.close(), strict.close()])
  })
})

describe('templates and pools', () => {
  async function claimWith(change: Partial<typeof workspaceTemplate>, name: string) {
    double.templates.set(`templates/${name}`, { ...workspaceTemplate, name, ...change })
    return failureOf(opened.workspaces.claim(makeClaim({ template: { namespace: 'templates', name } })))
  }

  it('that do not fit are refused before anything is made', async () => {
    double.control.seen.length = 0
    const lacking = await claimWith({ labels: {} }, 'lacking')
    expect(lacking).toMatchObject({
      reason: 'TemplateIncompatible',
      message: expect.stringContaining('svc.ai/execution-workspace'),
    })
    expect(await claimWith({ phase: 'Failed' }, 'failed')).toMatchObject({ reason: 'TemplateNotReady' })
    const named = makeClaim({ pool: { namespace: 'team-a', name: 'none' } })
    expect(await failureOf(opened.workspaces.claim(named))).toMatchObject({ reason: 'PoolIncompatible' })
    double.pools.set('team-a/other', {
      ...pool,
      name: 'other',
      annotations: { ...pool.annotations, 'svc.ai/actor-template': 'templates/x' },
    })
    const foreign = makeClaim({ pool: { namespace: 'team-a', name: 'other' } })
    expect((await failureOf(opened.workspaces.claim(foreign))).message).toContain(
      'has actors of template "templates/x"',
    )
    expect(double.control.seen.filter(({ call }) => call === 'CreateActor')).toEqual([])
  })

  it('without the program of the agent are refused, at once where they are known', async () => {
    const [fitting, other] = [makeClaim({ program: 'opencode' }), makeClaim({ program: 'llmo-cli' })]
    expect(await opened.workspaces.findProblem?.(fitting)).toBeUndefined()
    await opened.workspaces.claim(fitting)
    const message = expect.stringContaining('has no agent program llmo-cli')
    expect(await opened.workspaces.findProblem?.(other)).toEqual({ of: 'templateRef', message })
    expect(await failureOf(opened.workspaces.claim(other))).toMatchObject({ reason: 'TemplateIncompatible', message })
    const unknown = makeClaim({ template: { namespace: 'templates', name: 'none' }, program: 'llmo-cli' })
    expect(await opened.workspaces.findProblem?.(unknown)).toBeUndefined()
  })

  it('that are not ready yet are waited for', async () => {
    const claim = makeClaim()
    await opened.workspaces.claim(claim)
    double.templates.set('templates/agents', { ...workspaceTemplate, phase: 'WaitGoldenActor' })
    const late = await givenUp(claim, () => double.reads.length)
    expect(late).toMatchObject({ reason: 'ClaimTimeout', message: expect.stringContaining('phase WaitGoldenActor') })
    const waiting = opened.workspaces.waitUntilReady(claim, wait())
    double.templates.set('templates/agents', workspaceTemplate)
    expect((await waiting).reused).toBe(false)
    await opened.workspaces.delete(claim)
  })

  it('smaller than the demand are waited for in order, and who gives up makes room', async () => {
    const workers = double.world.workers.splice(1)
    onTestFinished(() => void double.world.workers.push(...workers))
    const first = await make({ pool: { namespace: 'team-a', name: 'warm' } })
    const order: string[] = []
    const given = new AbortController()
    const claims = [makeClaim(), makeClaim(), makeClaim()].map((claim) => ({
      ...claim,
      pool: { namespace: 'team-a', name: 'warm' },
    }))
    for (const claim of claims) await opened.workspaces.claim(claim)
    const waits = claims.map(async (claim, at) => {
      const signal = at === 0 ? given.signal : undefined
      await opened.workspaces.waitUntilReady(claim, wait(signal))
      order.push(claim.name)
      await opened.workspaces.delete(claim)
    })
    const [gaveUp = Promise.resolve(), ...others] = waits
    const isFirst = ({ call, message }: (typeof double.control.seen)[number]) =>
      call === 'ResumeActor' && message.actor_ref.name === `${claims[0]?.name}-${opened.installation}`
    // While its second try is under way: the refusal of the first one has been told by then, and is what counts.
    double.control.setFault(() => {
      if (double.control.seen.filter(isFirst).length > 1) given.abort(new Error('cancelled'))
      return undefined
    })
    expect(await failureOf(gaveUp)).toMatchObject({
      reason: 'ClaimTimeout',
      message: expect.stringContaining('no free workers'),
    })
    await opened.workspaces.delete(first.claim)
    await Promise.all(others)
    expect(order).toEqual(claims.slice(1).map(({ name }) => name))
    await opened.workspaces.delete(claims[0] as WorkspaceClaim)
  })
})

describe('the tokens of a daemon', () => {
  const egress = createEgress()
  afterAll(() => egress.close())
  const daemonOf = (claim: WorkspaceClaim) =>
    openDaemon({ egress, routerUrl: double.router.url, dnsSuffix }, refOf(claim))
  const tokensSent = () =>
    double.router.seen.flatMap(({ authorization }) => authorization?.replace('Bearer ', '') ?? [])

  it('are the bootstrap token once, and then one for each tenancy, of which none is taken twice', async () => {
    double.router.seen.length = 0
    const { claim } = await make()
    const daemon = daemonOf(claim)
    await run(claim, 'true')
    const [, first = ''] = tokensSent()
    expect(tokensSent()[0]).toBe(double.bootstrapToken)
    expect(tokensSent().filter((token) => token === double.bootstrapToken)).toHaveLength(1)
    await opened.workspaces.suspend(claim)
    await opened.workspaces.waitUntilReady(claim, wait())
    await run(claim, 'true')
    const last = tokensSent().at(-1) ?? ''
    expect(last).not.toBe(first)
    const file = (token: string) => [{ path: '/app/.svc/handoff-token', bytes: Buffer.from(token), mode: 0o600 }]
    await expect(daemon.putFiles(file('mine.x'), double.bootstrapToken)).rejects.toThrow('not valid')
    await expect(daemon.putFiles(file('mine.x'), first)).rejects.toThrow('not valid')
    await expect(daemon.observe('any', first)).rejects.toThrow('not valid')
    await expect(daemon.putFiles(file(first), last)).rejects.toThrow('was used before')
    expect(await run(claim, 'ls -A .svc 2>/dev/null; env')).not.toContain(double.bootstrapToken)
    await opened.workspaces.delete(claim)
  })

  it('are known to another replica and after a restart, and to no other installation', async () => {
    const { claim } = await make()
    await opened.workspaces.start(claim, command('long', 'sleep 0.3; echo done'))
    const replica = openActors(double, { key: opened.key })
    expect(await ended(claim, 'long', replica)).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    await replica.workspaces.waitUntilReady(claim, wait())
    expect(await run(claim, 'echo still')).toBe('still\n')
    const stranger = openActors(double, { key: randomBytes(32), installation: opened.installation })
    expect((await failureOf(stranger.workspaces.observeCommand(claim, 'long'))).message).toContain('somebody else')
    expect(await failureOf(stranger.workspaces.waitUntilReady(claim, wait()))).toMatchObject({
      reason: 'ProtocolError',
      message: expect.stringContaining('refused the hand-off token'),
    })
    await opened.workspaces.delete(claim)
    await Promise.all([replica.close(), stranger.close()])
  })

  it('cannot be replayed, neither after a restart of the service nor when the daemon began anew', async () => {
    double.router.seen.length = 0
    const { claim } = await make()
    const [bootstrap = '', first = ''] = tokensSent()
    const again = openActors(double, { key: opened.key })
    await again.workspaces.waitUntilReady(claim, wait())
    const second = tokensSent().at(-1) ?? ''
    await run(claim, 'true', again)
    const newest = tokensSent().at(-1) ?? ''
    const daemon = daemonOf(claim)
    const file = (token: string) => [{ path: '/app/.svc/handoff-token', bytes: Buffer.from(token), mode: 0o600 }]
    for (const old of [bootstrap, first, second].filter((one) => one !== newest)) {
      await expect(daemon.putFiles(file('mine.x'), old)).rejects.toThrow('not valid')
    }
    await double.world.losePod(refOf(claim))
    await double.world.resume(refOf(claim), false)
    for (const old of [first, newest]) await expect(daemon.putFiles(file('mine.x'), old)).rejects.toThrow('not valid')
    await again.workspaces.waitUntilReady(claim, wait())
    expect(tokensSent().filter((token) => token === bootstrap).length).toBeGreaterThan(1)
    for (const old of [bootstrap, first, newest]) {
      await expect(daemon.putFiles(file('mine.x'), old)).rejects.toThrow('not valid')
    }
    await again.workspaces.delete(claim)
    await again.close()
  })

  it('that are wrong are told', async () => {
    const by = openActors(double, { bootstrapToken: 'of another template' })
    const claim = makeClaim()
    await by.workspaces.claim(claim)
    const failed = await failureOf(by.workspaces.waitUntilReady(claim, wait()))
    expect(failed).toMatchObject({
      reason: 'ProtocolError',
      message: expect.stringContaining('refused the bootstrap token'),
    })
    await by.workspaces.delete(claim)
    await by.close()
  })
})

describe('what breaks', () => {
  it('is the control service, which is waited for', async () => {
    double.control.setFault(() => new Refused(14, 'away'))
    const claim = makeClaim()
    expect(await failureOf(opened.workspaces.claim(claim))).toMatchObject({ reason: 'ProviderUnavailable' })
    double.control.setFault(() => undefined)
    await opened.workspaces.claim(claim)
    double.control.setFault((call) => (call === 'ResumeActor' ? new Refused(14, 'away') : undefined))
    const waiting = opened.workspaces.waitUntilReady(claim, wait())
    double.control.seen.length = 0
    await waitFor(() => double.control.seen.some(({ call }) => call === 'ResumeActor'), 'a resumption was tried')
    double.control.setFault(() => undefined)
    await waiting
    await opened.workspaces.delete(claim)
  })

  it('is two writers at once, which is tried again', async () => {
    let left = 2
    double.control.setFault((call) => {
      if (call !== 'ResumeActor' || left === 0) return undefined
      left -= 1
      return new Refused(10, 'concurrent update conflict')
    })
    const { claim } = await make()
    await opened.workspaces.delete(claim)
  })

  it('is the control service for ever: the claim is given up and says why', async () => {
    const claim = makeClaim()
    await opened.workspaces.claim(claim)
    double.control.setFault(() => new Refused(16, 'no certificate of yours'))
    const failed = await givenUp(claim, callsOf('GetActor'))
    expect(failed).toMatchObject({
      reason: 'ClaimTimeout',
      message: expect.stringContaining('does not let this service in: no certificate'),
    })
    double.control.setFault(() => undefined)
    await opened.workspaces.delete(claim)
  })

  it('is a service that does not speak the protocol', async () => {
    double.control.setFault(() => new Refused(12, 'unknown method'))
    expect(await failureOf(opened.workspaces.observe(makeClaim()))).toMatchObject({ reason: 'ProtocolError' })
  })

  it('is a control service that asks for a token: each call shows the one that its file has then', async () => {
    const tokenFile = join(mkdtempSync(join(tmpdir(), 'actor-token-')), 'token')
    const trust = { caFile: double.certificate.certFile, tokenFile }
    const control = createActorControl({ endpoint: double.control.endpoint, trust })
    onTestFinished(() => {
      control.close()
      double.control.requireToken(undefined)
      rmSync(dirname(tokenFile), { recursive: true })
    })
    for (const token of ['first', 'second']) {
      double.control.requireToken(token)
      await expect(opened.control.listWorkers()).rejects.toThrow('does not let this service in: missing bearer token')
      writeFileSync(tokenFile, `${token}\n`)
      expect(await control.listWorkers()).not.toEqual([])
    }
    const claims = { audience: ['svc'], appId: 'svc', userId: 'agents', sessionId: 's' }
    expect(await control.mintJwt(claims, double.identityToken)).toContain('agents')
    rmSync(tokenFile)
    await expect(control.listWorkers()).rejects.toThrow('the token for the actor service cannot be read: ENOENT')
  })

  it('is a certificate that the file of authorities does not vouch for', async () => {
    const other = await startActors({ workers: 0 })
    const wrong = { endpoint: double.control.endpoint, trust: { caFile: other.certificate.certFile } } as const
    const distrusting = createActorControl(wrong)
    expect(await failureOf(distrusting.get({ atespace: 'a', name: 'b' }))).toMatchObject({
      reason: 'ProviderUnavailable',
    })
    distrusting.close()
    const careless = createActorControl({ endpoint: double.control.endpoint, trust: 'insecure' })
    expect(await careless.get({ atespace: 'a', name: 'b' })).toBeUndefined()
    careless.close()
    await other.stop()
  })

  it('is the control service in between: the connection is made again', async () => {
    const { claim } = await make()
    const { certificate, identityToken, control, gate } = double
    control.stop()
    expect(await failureOf(opened.workspaces.observe(claim))).toMatchObject({ reason: 'ProviderUnavailable' })
    const again = await startControlServer(double.world, { certificate, identityToken, gate, port: control.port })
    double.control = again
    await waitFor(
      async () => (await opened.workspaces.observe(claim).catch(() => undefined))?.phase === 'Ready',
      'it answers',
    )
    await opened.workspaces.delete(claim)
  })

  const answers: [string, 'ProtocolError' | 'ProviderUnavailable' | 'WorkspaceLost', number, () => string][] = [
    ['garbage', 'ProtocolError', 200, () => 'PK\u0003\u0004 no JSON'],
    ['JSON of another kind', 'ProtocolError', 200, () => '{"running": "perhaps"}'],
    ['an end without an exit code', 'ProtocolError', 200, () => '{"execId": "a", "running": false}'],
    [
      'an exit code that no program has',
      'ProtocolError',
      200,
      () => '{"execId":"a","running":false,"exitCode":4294967295}',
    ],
    ['a negative exit code', 'ProtocolError', 200, () => '{"execId":"a","running":false,"exitCode":-1}'],
    ['a flood', 'ProtocolError', 200, () => 'x'.repeat(40 * 1_048_576)],
    ['an error of its own', 'ProtocolError', 500, () => '{"error": "out of order"}'],
    ['the words of a router that cannot reach it', 'ProviderUnavailable', 503, () => 'upstream connect error'],
    ['the words of a router that knows no such actor', 'WorkspaceLost', 404, () => 'actor "x" not found'],
  ]
  it.each(answers)('is a daemon that answers %s', async (_what, reason, status, body) => {
    const { claim } = await make()
    double.router.setIntercept(({ url = '' }, response) => {
      if (!url.startsWith('/v1/exec/')) return false
      response.writeHead(status, { 'content-type': 'application/json' }).end(body())
      return true
    })
    expect((await failureOf(opened.workspaces.observeCommand(claim, 'any'))).reason).toBe(reason)
    double.router.setIntercept(() => false)
    await opened.workspaces.delete(claim)
  })

  it.each([
    ['a line break', 'a\r\nx-more: b'],
    ['what no token has', 'a b/c'],
    ['nothing', ''],
    ['far too much', 'a'.repeat(10_000)],
  ])('is a daemon that says its token begins with %s', async (_what, handoff) => {
    const claim = makeClaim()
    await opened.workspaces.claim(claim)
    double.router.setIntercept(({ url = '' }, response) => {
      if (url !== '/healthz') return false
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ status: 'ok', handoff }))
      return true
    })
    const failed = await failureOf(opened.workspaces.waitUntilReady(claim, wait()))
    expect(failed.reason).toBe('ProtocolError')
    double.router.setIntercept(() => false)
    await opened.workspaces.delete(claim)
  })

  it('is a daemon with huge headers, which is not waited for in vain', async () => {
    const { claim } = await make()
    double.router.setIntercept(({ url = '' }, response) => {
      if (!url.startsWith('/v1/exec/')) return false
      response.writeHead(200, { 'x-much': 'x'.repeat(1_000_000) }).end('{}')
      return true
    })
    expect((await failureOf(opened.workspaces.observeCommand(claim, 'any'))).reason).toBe('ProviderUnavailable')
    double.router.setIntercept(() => false)
    await opened.workspaces.delete(claim)
  })

  it('is a daemon whose answer never ends', async () => {
    const { claim } = await make()
    double.router.setIntercept(({ url = '' }, response) => {
      if (!url.startsWith('/v1/exec/')) return false
      response.writeHead(200)
      const timer = setInterval(() => response.write(' '), 100)
      response.on('close', () => clearInterval(timer))
      return true
    })
    const failed = await failureOf(opened.workspaces.observeCommand(claim, 'any'))
    expect(failed).toMatchObject({
      reason: 'ProviderUnavailable',
      message: expect.stringContaining('did not answer within'),
    })
    double.router.setIntercept(() => false)
    await opened.workspaces.delete(claim)
  }, 60_000)

  it('is nothing while the actor is on its way: what is asked of it is tried again', async () => {
    const { claim } = await make()
    await opened.workspaces.suspend(claim)
    const reached = double.gate.hold(/^after ResumeActor/)
    const actor = double.world.require(refOf(claim))
    const waiting = opened.workspaces.waitUntilReady(claim, wait())
    await reached
    actor.status = 'STATUS_RESUMING'
    expect(await failureOf(opened.workspaces.observeCommand(claim, 'any'))).toMatchObject({
      reason: 'ProviderUnavailable',
    })
    actor.status = 'STATUS_RUNNING'
    double.gate.open()
    await waiting
    expect(await opened.workspaces.observeCommand(claim, 'any')).toEqual({ phase: 'Missing' })
    await opened.workspaces.delete(claim)
  })

  it('is the actor in the middle of a command: it is lost, not begun again', async () => {
    const { claim } = await make()
    await opened.workspaces.start(claim, command('lost', 'sleep 600'))
    expect(await opened.workspaces.observeCommand(claim, 'lost')).toEqual({ phase: 'Running' })
    await double.world.losePod(refOf(claim))
    expect(await failureOf(opened.workspaces.observeCommand(claim, 'lost'))).toMatchObject({ reason: 'WorkspaceLost' })
    await double.world.resume(refOf(claim), false)
    expect(await failureOf(opened.workspaces.observeCommand(claim, 'lost'))).toMatchObject({
      reason: 'WorkspaceLost',
      message: expect.stringContaining('started anew'),
    })
    await opened.workspaces.scrub(claim, ['a'])
    await opened.workspaces.delete(claim)
    expect(await opened.workspaces.observe(claim)).toEqual({ phase: 'Absent' })
  })

  it('is the service in each phase: another one goes on from there', async () => {
    const key = randomBytes(32)
    const claim = makeClaim({ boot: true })
    async function byAnother<T>(work: (one: OpenedActors) => Promise<T>): Promise<T> {
      const one = openActors(double, { key, installation: opened.installation })
      return work(one).finally(() => one.close())
    }
    await byAnother(({ workspaces }) => workspaces.claim(claim))
    await byAnother(({ workspaces }) => workspaces.claim(claim))
    await double.world.resume(refOf(claim), true)
    await byAnother(({ workspaces }) => workspaces.waitUntilReady(claim, wait()))
    await byAnother(({ workspaces }) => workspaces.waitUntilReady(claim, wait()))
    const file = { path: 'told', bytes: Buffer.from('told'), mode: 0o600 }
    await byAnother(({ workspaces }) => workspaces.stage(claim, [file]))
    for (const _time of [1, 2])
      await byAnother(({ workspaces }) =>
        workspaces.start(claim, command('c', 'cat told; echo once >>times; cat times')),
      )
    expect(await byAnother((one) => ended(claim, 'c', one))).toMatchObject({ stdout: 'toldonce\n' })
    for (const _time of [1, 2]) await byAnother(({ workspaces }) => workspaces.scrub(claim, ['told']))
    for (const _time of [1, 2]) await byAnother(({ workspaces }) => workspaces.suspend(claim))
    for (const _time of [1, 2]) await byAnother(({ workspaces }) => workspaces.delete(claim))
    expect(double.world.find(refOf(claim))).toBeUndefined()
    expect(double.world.workers.filter(({ actor }) => actor !== undefined)).toEqual([])
  })
})

describe('a program in an actor that looks around', () => {
  it('finds no token of the daemon, wherever processes tell of themselves', async () => {
    const { claim } = await make()
    const search =
      'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"; grep -rs . /app/.svc /tmp /run-actor'
    const found = await run(claim, search)
    expect(found).toContain('SVC_EXEC=')
    const tokens = double.router.seen.flatMap(({ authorization }) => authorization?.replace('Bearer ', '') ?? [])
    for (const token of tokens) expect(found).not.toContain(token)
    await opened.workspaces.delete(claim)
  })

  it('is refused by the daemons of others, to whom the router leads it, and by its own', async () => {
    const [{ claim }, other] = [await make(), await make()]
    await run(other.claim, 'echo theirs >theirs')
    const ask = [
      'const { request } = require("node:http"); const [url, ...hosts] = process.argv.slice(1)',
      'const body = JSON.stringify({ execId: "x", command: ["cat", "theirs"], timeoutSeconds: 5, path: "/app/theirs", files: [] })',
      'for (const host of hosts) for (const path of ["/v1/exec", "/v1/files", "/v1/files/download", "/v1/scrub"]) request(new URL(path, url), { method: "POST", headers: { host } }, (a) => console.log(a.statusCode)).end(body)',
    ].join('\n')
    const hosts = [other.claim, claim].map((one) => `${refOf(one).name}.team-a.${dnsSuffix}`)
    count += 1
    const asking = { ...command(`ask-${count}`, ''), command: ['node', '-e', ask, double.router.url, ...hosts] }
    await opened.workspaces.start(claim, asking)
    expect((await ended(claim, `ask-${count}`)).stdout).toBe('401\n'.repeat(8))
    for (const one of [claim, other.claim]) await opened.workspaces.delete(one)
  })
})

describe('two installations on one actor service', () => {
  it('have actors of their own for the same claim, and neither lists or deletes those of the other', async () => {
    const other = openActors(double)
    const { claim } = await make()
    await run(claim, 'echo mine >mine')
    await other.workspaces.claim(claim)
    expect((await other.workspaces.waitUntilReady(claim, wait())).reused).toBe(false)
    expect(await run(claim, 'ls', other)).not.toContain('mine')
    for (const { workspaces } of [opened, other]) {
      const listed: string[] = []
      for await (const one of workspaces.list()) listed.push(one.claim.name)
      expect(listed).toEqual([claim.name])
    }
    await other.workspaces.delete(claim)
    expect(await run(claim, 'cat mine')).toBe('mine\n')
    expect(double.world.list().map(({ ref }) => ref)).toEqual([refOf(claim)])
    await opened.workspaces.delete(claim)
    await other.close()
  })
})

describe('the list of workspaces', () => {
  it('has every page, and no actors of others', async () => {
    const claims = [makeClaim(), makeClaim(), makeClaim()]
    for (const claim of claims) await opened.workspaces.claim(claim)
    double.world.create({ atespace: 'team-a', name: 'somebody-elses' }, { namespace: 'templates', name: 'agents' }, {})
    const listed: string[] = []
    for await (const { claim } of opened.workspaces.list()) listed.push(`${claim.namespace}/${claim.name}`)
    expect(listed.toSorted()).toEqual(claims.map(({ name }) => `team-a/${name}`).toSorted())
    for (const claim of claims) await opened.workspaces.delete(claim)
  })
})
