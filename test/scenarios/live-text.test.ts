// What a model writes is seen while it is written: within a line, at every door, without a secret, and kept when the run ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptedVendor, startVendor, type VendorStep } from '../fixtures/llm/scripted-vendor.ts'
import { readOfProcess } from '../fixtures/processes.ts'
import { waitFor } from '../fixtures/time.ts'
import {
  createTask,
  findProcesses,
  launcher,
  makeFolder,
  readResult,
  removeFolder,
  type Service,
  startService,
  waitForPhase,
} from './service.ts'

const key = 'made-up-key-4711-0815'
const folder = makeFolder()
let service: Service
let vendor: ScriptedVendor
let script: VendorStep[] = []
const started = new Set<ChildProcess>()

beforeAll(async () => {
  service = await startService({ folder })
  vendor = await startVendor(() => script)
  await service.call('POST', '/api/v1/secrets', { name: 'vendor', stringData: { 'api-key': key } })
  const secretRef = { name: 'vendor', key: 'api-key' }
  const spec = { type: 'llmo', baseURL: vendor.url, defaultModel: 'm', secretRef }
  expect((await service.call('POST', '/api/v1/providers', { name: 'default', spec })).status).toBe(201)
})
afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
})
afterAll(async () => {
  await service.stop()
  await vendor.close()
  removeFolder(folder)
})

type Follower = { text(): string; signal(name: NodeJS.Signals): void; ended: Promise<number | null> }

function follow(...args: string[]): Follower {
  const child = spawn(process.execPath, [launcher, ...args], { env: service.env, stdio: ['ignore', 'pipe', 'pipe'] })
  started.add(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
  }
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { text: () => text, signal: (name) => void child.kill(name), ended }
}

type Frame = { id?: string; event?: string; data: string }

/** The API's own stream, frame by frame. */
async function followApi(name: string): Promise<{ frames: Frame[]; text(): string; ended: Promise<void> }> {
  const response = await fetch(`${service.url}/api/v1/tasks/${name}/logs?follow=true`, {
    headers: { authorization: `Bearer ${service.token}` },
  })
  const frames: Frame[] = []
  let rest = ''
  let all = ''
  const read = async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      all += chunk
      const parts = (rest + chunk).split('\n\n')
      rest = parts.pop() ?? ''
      frames.push(...parts.filter((part) => !part.startsWith(':')).map(readFrame))
    }
  }
  return { frames, text: () => all, ended: read() }
}

function readFrame(text: string): Frame {
  const lines = text.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)])
  return Object.fromEntries(lines) as Frame
}

function partsOf(frames: Frame[]): string {
  let text = ''
  for (const { data } of frames.filter(({ event }) => event === 'part')) {
    const part = JSON.parse(data) as { offset: number; text: string }
    expect(part.offset).toBe(text.length)
    text += part.text
  }
  return text
}

const readLog = async (name: string) =>
  (await service.call<{ logs: string }>('GET', `/api/v1/tasks/${name}/logs`)).body.logs
const talk = (name: string) => createTask(service, name, { type: 'ai', prompt: 'talk' })
const gates = (count: number) => Array.from({ length: count }, () => Promise.withResolvers<void>())

describe('a line that a model writes in twenty parts', () => {
  it('is seen part by part at the API and in svc, and stored once', async () => {
    const words = Array.from({ length: 20 }, (_, index) => `word-${index} `)
    const pauses = gates(20)
    script = words.flatMap((text, index) => [{ text }, { wait: pauses[index]?.promise ?? Promise.resolve() }])
    await talk('twenty')
    await waitForPhase(service, 'twenty', 'Running')
    const api = await followApi('twenty')
    const logs = follow('task', 'logs', '-f', 'twenty')
    const wait = follow('task', 'wait', 'twenty')
    for (const [index, word] of words.entries()) {
      const isThere = () => [partsOf(api.frames), logs.text(), wait.text()].every((text) => text.includes(word))
      await waitFor(isThere, `${word} to be seen everywhere`)
      expect(await readLog('twenty')).not.toContain('word-0')
      pauses[index]?.resolve()
    }
    await waitForPhase(service, 'twenty', 'Succeeded')
    await Promise.all([api.ended, logs.ended, wait.ended])
    const line = words.join('')
    const stored = await readLog('twenty')
    expect(stored.split(line)).toHaveLength(2)
    expect(partsOf(api.frames)).toBe(line)
    expect(
      api.frames
        .filter(({ id }) => id !== undefined)
        .map(({ data }) => `${data}\n`)
        .join(''),
    ).toBe(stored)
    expect(logs.text()).toBe(stored)
    // Once as it came, and once as the result.
    expect(wait.text().split(line)).toHaveLength(3)
  })

  it('shows no part of a secret that is cut in two, at any door [SECRET-008]', async () => {
    const half = key.length / 2
    const pauses = gates(2)
    const waitAt = (index: number): VendorStep => ({ wait: pauses[index]?.promise ?? Promise.resolve() })
    script = [
      { text: `the key is ${key.slice(0, half)}` },
      waitAt(0),
      { text: key.slice(half) },
      { text: ' indeed' },
      waitAt(1),
    ]
    await talk('leaky')
    await waitForPhase(service, 'leaky', 'Running')
    const api = await followApi('leaky')
    const logs = follow('task', 'logs', '-f', 'leaky')
    await waitFor(() => logs.text().includes('the key is '), 'the beginning')
    pauses[0]?.resolve()
    await waitFor(() => logs.text().includes('[REDACTED] indeed'), 'the rest')
    pauses[1]?.resolve()
    await waitForPhase(service, 'leaky', 'Succeeded')
    await Promise.all([api.ended, logs.ended])
    for (const text of [api.text(), logs.text(), await readLog('leaky'), await readResult(service, 'leaky')]) {
      expect(text).not.toContain(key.slice(0, half))
      expect(text).not.toContain(key.slice(half))
    }
    expect(logs.text()).toContain('the key is [REDACTED] indeed\n')
  })
})

describe('a run that ends in the middle of a line', () => {
  const never = new Promise(() => {})

  it('keeps what was said when it is cancelled, and shows nothing twice', async () => {
    script = [{ text: 'a whole line\n' }, { text: 'half a sen' }, { wait: never }]
    const run = follow('run', '--name', 'stopped', 'talk')
    await waitFor(() => run.text().includes('half a sen'), 'the text')
    run.signal('SIGINT')
    expect(await run.ended).toBe(4)
    expect(await readLog('stopped')).toMatch(/a whole line\nhalf a sen\n/)
    expect(run.text().split('a whole line')).toHaveLength(2)
  })

  it('keeps what was said when its worker is killed', async () => {
    script = [{ text: 'a whole line\nhalf a sen' }, { wait: never }]
    const execution = { isolation: 'process' }
    await createTask(service, 'killed', { type: 'ai', prompt: 'talk', retryPolicy: { maxRetries: 0 }, execution })
    await waitForPhase(service, 'killed', 'Running')
    const logs = follow('task', 'logs', '-f', 'killed')
    await waitFor(() => logs.text().includes('half a sen'), 'the text')
    for (const pid of listWorkers()) process.kill(pid, 'SIGKILL')
    await waitForPhase(service, 'killed', 'Failed')
    await logs.ended
    expect(await readLog('killed')).toContain('a whole line\nhalf a sen\n')
    expect(logs.text()).toBe(await readLog('killed'))
  })
})

/** The worker programs of this service that are no runners. */
function listWorkers(): number[] {
  const isOurs = (pid: number) => descends(pid, service.process.pid ?? 0)
  return findProcesses('/worker.').filter((pid) => isOurs(pid) && !readOfProcess(pid, 'cmdline').includes('--runner'))
}

function descends(pid: number, from: number): boolean {
  if (pid <= 1) return false
  return pid === from || descends(Number(/^PPid:\s*(\d+)/m.exec(readOfProcess(pid, 'status'))?.[1] ?? 0), from)
}
