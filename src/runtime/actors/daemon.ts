// Speaks with the daemon in an actor (http-json-v1, docs/actors.md), through the router. Answers are bounded in time and
// size, and read as what a stranger says: code in the actor may have replaced the daemon.
import { posix } from 'node:path'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import type { Egress, EgressResponse } from '../../ports/service/egress.ts'
import {
  type CommandState,
  type StagedFile,
  type WorkspaceCommand,
  WorkspaceError,
} from '../../ports/workspaces/execution-workspaces.ts'
import { hostOfActor } from '../../rules/workspaces/actor-templates.ts'
import { requireInside } from '../workspaces/inside.ts'
import type { ActorRef } from './control.ts'

export type Router = { egress: Pick<Egress, 'request'>; routerUrl: string; dnsSuffix: string }

/** The daemon does not know the token: it has another one, or has been started anew. */
export class TokenRefused extends Error {}

/** It becomes part of a header. */
const publicPart = z.string().regex(/^[\w-]{1,200}$/)
const Health = z.object({ status: z.literal('ok'), handoff: publicPart.optional() })
const Done = z.object({})
const Started = z.object({ execId: z.string().max(200) })
const Execution = z.object({
  execId: z.string().max(200),
  running: z.boolean(),
  exitCode: z.int().min(0).max(255).nullish(),
  stdout: z.string().default(''),
  stderr: z.string().default(''),
  stdoutTruncated: z.boolean().default(false),
  stderrTruncated: z.boolean().default(false),
})

export interface Daemon {
  /** `handoff`: the public part of the token that it has; absent: it still has its bootstrap token. */
  health(): Promise<{ handoff?: string | undefined }>
  putFiles(files: readonly StagedFile[], token: string): Promise<void>
  start(command: WorkspaceCommand & { workDir: string }, token: string): Promise<void>
  observe(id: string, token: string): Promise<CommandState>
  stop(id: string, token: string): Promise<void>
  scrub(paths: readonly string[], token: string): Promise<void>
}

/** A path in the folder of staged files. ProtocolError for one that leads out of it, or to itself. */
export function joinRoot(root: string, path: string): string {
  return posix.join(root, requireInside(path))
}

const answerMs = 10_000
/** Of TERM, its grace and KILL. */
const stopMs = 30_000
const maxAnswer = 65_536
/** Output of a command as JSON, whose every byte may be escaped. */
const maxOutputAnswer = 32 * 1_048_576

type DaemonRequest = {
  method: string
  path: string
  token?: string
  body?: object
  maxBytes?: number
  timeoutMs?: number
}

/** Rejects with WorkspaceError and TokenRefused. */
export function openDaemon({ egress, routerUrl, dnsSuffix }: Router, { atespace, name }: ActorRef): Daemon {
  const host = hostOfActor({ name, namespace: atespace }, dnsSuffix)
  const { origin: via, protocol } = new URL(routerUrl)
  const base = `${protocol}//${host}`

  async function send({ method, path, token, body, maxBytes = maxAnswer, timeoutMs = answerMs }: DaemonRequest) {
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const bounds = { maxBytes, timeoutMs, maxRedirects: 0, policy: { allowNetworks: [], deny: [], via } }
    const request = { url: `${base}${path}`, method, headers: makeHeaders(token), ...content, ...bounds }
    try {
      return await egress.request(request, new AbortController().signal)
    } catch (error) {
      throw new WorkspaceError('ProviderUnavailable', `the actor behind ${via}: ${messageOf(error)}`, { cause: error })
    }
  }

  async function ask<T>(schema: z.ZodType<T>, request: DaemonRequest): Promise<T> {
    const answer = await send(request)
    refuseStatus(answer)
    if (answer.truncated) {
      throw new WorkspaceError(
        'ProtocolError',
        `the daemon of the actor sent more than ${request.maxBytes ?? maxAnswer} bytes`,
      )
    }
    const parsed = schema.safeParse(readJson(answer))
    if (parsed.success) return parsed.data
    throw new WorkspaceError('ProtocolError', `the daemon of the actor did not answer ${request.path} as http-json-v1`)
  }

  return {
    health: () => ask(Health, { method: 'GET', path: '/healthz' }),
    async putFiles(files, token) {
      const written = files.map(({ path, bytes, mode }) => ({
        path,
        content: Buffer.from(bytes).toString('base64'),
        mode: mode.toString(8).padStart(4, '0'),
      }))
      await ask(Done, { method: 'POST', path: '/v1/files', token, body: { files: written } })
    },
    async start({ id, stdin, ...command }, token) {
      const input = stdin === undefined ? {} : { stdin: Buffer.from(stdin).toString('base64') }
      const body = { ...command, execId: id, detach: true, ...input }
      const { execId } = await ask(Started, { method: 'POST', path: '/v1/exec', token, body })
      if (execId === id) return
      throw new WorkspaceError('ProtocolError', 'the daemon of the actor started the command under another id')
    },
    async observe(id, token) {
      const path = `/v1/exec/${encodeURIComponent(id)}`
      return describeExecution(
        await orAbsent(ask(Execution, { method: 'GET', path, token, maxBytes: maxOutputAnswer })),
      )
    },
    async stop(id, token) {
      const path = `/v1/exec/${encodeURIComponent(id)}`
      await orAbsent(ask(Done, { method: 'DELETE', path, token, timeoutMs: stopMs, maxBytes: maxOutputAnswer }))
    },
    async scrub(paths, token) {
      await ask(Done, { method: 'POST', path: '/v1/scrub', token, body: { paths }, timeoutMs: stopMs })
    },
  }
}

function makeHeaders(token: string | undefined): Record<string, string> {
  const shared = { accept: 'application/json', 'content-type': 'application/json' }
  return token === undefined ? shared : { ...shared, authorization: `Bearer ${token}` }
}

class Unknown extends WorkspaceError {}

async function orAbsent<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Unknown) return undefined
    throw error
  }
}

/** 128 + a signal's number, 124 for a command whose time was up: as the daemon says. */
function describeExecution(text: z.infer<typeof Execution> | undefined): CommandState {
  if (text === undefined) return { phase: 'Missing' }
  const { running, exitCode, stdout, stderr, stdoutTruncated, stderrTruncated } = text
  if (running) return { phase: 'Running' }
  if (typeof exitCode !== 'number') {
    throw new WorkspaceError('ProtocolError', 'the daemon of the actor says that a command ended, but not how')
  }
  return { phase: 'Ended', exitCode, stdout, stderr, truncated: stdoutTruncated || stderrTruncated }
}

function readJson({ body }: EgressResponse): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The router has plain texts, the daemon JSON. */
function refuseStatus(answer: EgressResponse): void {
  const { status } = answer
  if (status >= 200 && status <= 299) return
  const text = answer.body.toString('utf8').slice(0, 300)
  const isDaemon = typeof readJson(answer) === 'object'
  if (status === 401 || status === 403) throw new TokenRefused(text)
  if (status === 404 && isDaemon) throw new Unknown('WorkspaceLost', `the actor does not know it: ${text}`)
  if (status === 404) throw new WorkspaceError('WorkspaceLost', `the router knows no such actor: ${text}`)
  if (status === 429 || status >= 502) {
    throw new WorkspaceError('ProviderUnavailable', `the actor cannot be reached (status ${status}): ${text}`)
  }
  throw new WorkspaceError('ProtocolError', `the daemon of the actor answered ${status}: ${text}`)
}
