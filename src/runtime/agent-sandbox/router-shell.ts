// The shell over the router of sandboxes and the runtime in their image: POST /upload stores a file in the runtime's
// folder, POST /execute runs one command line there and answers with what it wrote (agent-sandbox: sandbox-router/README.md
// and examples/python-runtime-sandbox/main.py).
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import { readWhole } from '../../lib/bounded-body.ts'
import type { Ids } from '../../lib/clock.ts'
import { tryParseJson } from '../../lib/json.ts'
import { quoteWords } from '../../lib/shell-words.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { packScript, type SandboxAddress, type SandboxShell, type ShellAnswer, type ShellScript } from './shell.ts'

export type RouterShellParts = {
  url: string
  /** What the router lets in: `Authorization: Bearer`. */
  token?: string | undefined
  /** Port of the runtime in its pod; that of the published image. */
  port?: number
  fetch: typeof globalThis.fetch
  ids: Ids
}

const defaultPort = 8888
/** Of an answer, beside what the command wrote: names, and what JSON escapes. */
const frameBytes = 64 * 1024
const stderrBytes = 4096

const answerSchema = z.object({ stdout: z.string(), stderr: z.string(), exit_code: z.number().int() })

type Call = {
  address: SandboxAddress
  script: ShellScript
  path: string
  body: string | FormData
  headers?: Record<string, string>
}

function unexpected(what: string): WorkspaceError {
  return new WorkspaceError('ProtocolError', `the router of sandboxes ${what}`)
}

function silent(cause: unknown): WorkspaceError {
  return new WorkspaceError('ProviderUnavailable', `the router of sandboxes does not answer: ${messageOf(cause)}`, {
    cause,
  })
}

/** 502 and 504 say that there is no such sandbox, or that it does not listen. */
function checkStatus({ status }: Response, { sandbox, namespace }: SandboxAddress, text: string): void {
  if (status >= 200 && status < 300) return
  const excerpt = text.slice(0, 200)
  if (status === 502) {
    throw new WorkspaceError(
      'ProviderUnavailable',
      `the router does not reach sandbox ${namespace}/${sandbox}: ${excerpt}`,
    )
  }
  if (status === 401 || status === 403) {
    throw new WorkspaceError(
      'ProviderUnavailable',
      `the router of sandboxes refuses this service (${status}): ${excerpt}`,
    )
  }
  if (status >= 500) throw new WorkspaceError('ProviderUnavailable', `the router answers ${status}: ${excerpt}`)
  throw unexpected(`answers ${status}: ${excerpt}`)
}

function makeHeaders({ token, port = defaultPort }: RouterShellParts, address: SandboxAddress): Record<string, string> {
  return {
    'X-Sandbox-ID': address.sandbox,
    'X-Sandbox-Namespace': address.namespace,
    'X-Sandbox-Port': String(port),
    // Sandboxes of a warm pool have no Service whose name could be looked up.
    ...(address.podIP !== undefined && { 'X-Sandbox-Pod-IP': address.podIP }),
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  }
}

async function post(parts: RouterShellParts, { address, script, path, body, headers }: Call): Promise<string> {
  const url = new URL(path, parts.url.endsWith('/') ? parts.url : `${parts.url}/`)
  const signal = AbortSignal.timeout(script.timeoutMs)
  try {
    const request = { method: 'POST', headers: { ...makeHeaders(parts, address), ...headers }, body, signal }
    const response = await parts.fetch(url, { ...request, redirect: 'error' })
    const maxBytes = script.maxBytes * 2 + frameBytes
    const answer = await readWhole(response.body, maxBytes, () =>
      unexpected(`answers with more than ${maxBytes} bytes`),
    )
    const text = answer.toString('utf8')
    checkStatus(response, address, text)
    return text
  } catch (error) {
    throw error instanceof WorkspaceError ? error : silent(error)
  }
}

function readAnswer(text: string, maxBytes: number): ShellAnswer {
  const parsed = answerSchema.safeParse(tryParseJson(text))
  if (!parsed.success) throw unexpected(`did not answer as a command does: ${text.slice(0, 200)}`)
  const { stdout, stderr, exit_code: code } = parsed.data
  const bytes = Buffer.from(stdout)
  if (bytes.length > maxBytes) throw unexpected(`answers with more than ${maxBytes} bytes`)
  return { code, stdout: bytes, stderr: stderr.slice(0, stderrBytes) }
}

/** The runtime splits a command line as a shell does, but runs none; its files and commands share one folder. */
export function createRouterShell(parts: RouterShellParts): SandboxShell {
  return {
    async run(address, script) {
      const { argv, input } = packScript(script)
      const name = `.svc-${parts.ids.hex(16)}`
      const form = new FormData()
      form.set('file', new Blob([new Uint8Array(input)]), name)
      await post(parts, { address, script, path: 'upload', body: form })
      const [program, zero, ...sizes] = argv
      const line = ['/bin/sh', '-c', `exec < "$1"; rm -f "$1"; shift\n${program}`, zero ?? 'sh', name, ...sizes]
      const body = JSON.stringify({ command: quoteWords(line) })
      const headers = { 'content-type': 'application/json' }
      return readAnswer(await post(parts, { address, script, path: 'execute', body, headers }), script.maxBytes)
    },
  }
}
