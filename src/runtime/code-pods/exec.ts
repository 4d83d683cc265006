// Runs a program in a container over the exec subresource: a web socket with channels for its streams
// (v5.channel.k8s.io).
import { setTimeout as pause } from 'node:timers/promises'
import type { WebSocket } from 'undici'
import type { ApiConnection } from '../../cluster/api/connection.ts'
import { messageOf, SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'

export type ExecCommand = {
  namespace: string
  pod: string
  container: string
  argv: string[]
  /** Written to its standard input, which then stays open, unless it `endsInput`: the program knows how much to read. */
  input: Buffer | AsyncIterable<Buffer>
  endsInput?: boolean
  onStdout(chunk: Buffer): void
  onStderr(chunk: Buffer): void
}

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const
const protocol = 'v5.channel.k8s.io'
/** A frame size that every proxy accepts. */
const frameBytes = 32 * 1024
/** More waits until the server has taken some of it. */
const maxBuffered = 1024 * 1024
const bufferPauseMs = 5

/** The `Status` on the error channel: success, or the exit code among the causes of a failure. */
type ExecStatus = {
  status?: string
  message?: string
  reason?: string
  details?: { causes?: { reason?: string; message?: string }[] }
}

function readExitCode(status: ExecStatus): number {
  if (status.status === 'Success') return 0
  const cause = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  const code = Number(cause)
  if (cause !== undefined && Number.isInteger(code)) return code
  throw new SvcError(
    'Internal',
    `the program could not be started in its pod: ${status.message ?? 'no reason was given'}`,
  )
}

async function openSocket(
  connection: ApiConnection,
  command: ExecCommand,
): Promise<{ socket: WebSocket; release(): void }> {
  const { Agent, WebSocket: Socket } = await import('undici')
  const { headers, tls } = await connection.readCredentials()
  const dispatcher = new Agent({ connect: tls })
  const { namespace, pod, container, argv } = command
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', stderr: 'true' })
  for (const argument of argv) query.append('command', argument)
  const origin = connection.origin.replace(/^http/, 'ws')
  const url = `${origin}${connection.pathPrefix}/api/v1/namespaces/${namespace}/pods/${pod}/exec?${query}`
  const socket = new Socket(url, { protocols: [protocol], dispatcher, headers })
  socket.binaryType = 'arraybuffer'
  return { socket, release: () => void dispatcher.destroy().catch(() => undefined) }
}

function sendFrames(socket: WebSocket, input: Buffer): void {
  for (let at = 0; at < input.length; at += frameBytes) {
    socket.send(Buffer.concat([Buffer.from([channels.stdin]), input.subarray(at, at + frameBytes)]))
  }
}

async function sendInput(socket: WebSocket, { input, endsInput = false }: ExecCommand): Promise<void> {
  if (Buffer.isBuffer(input)) sendFrames(socket, input)
  else for await (const chunk of input) await sendChunk(socket, chunk)
  if (endsInput) socket.send(Buffer.from([channels.close, channels.stdin]))
}

async function sendChunk(socket: WebSocket, chunk: Buffer): Promise<void> {
  sendFrames(socket, chunk)
  while (socket.readyState === socket.OPEN && socket.bufferedAmount > maxBuffered) await pause(bufferPauseMs)
}

function takeFrame(command: ExecCommand, data: unknown): ExecStatus | undefined {
  const frame = Buffer.from(data as ArrayBuffer)
  const body = frame.subarray(1)
  if (frame[0] === channels.stdout) command.onStdout(body)
  else if (frame[0] === channels.stderr) command.onStderr(body)
  else if (frame[0] === channels.error && body.length > 0) return JSON.parse(body.toString('utf8')) as ExecStatus
  return undefined
}

/** The exit code. Rejects when the signal aborts, and with Unavailable when the connection is lost before the end. */
export async function execInPod(connection: ApiConnection, command: ExecCommand, signal: AbortSignal): Promise<number> {
  signal.throwIfAborted()
  const { socket, release } = await openSocket(connection, command)
  const ended = Promise.withResolvers<number>()
  const removeListener = onAbort(signal, () => ended.reject(signal.reason))
  socket.addEventListener('open', () => sendInput(socket, command).catch(ended.reject))
  socket.addEventListener('message', ({ data }) => {
    try {
      const status = takeFrame(command, data)
      if (status !== undefined) ended.resolve(readExitCode(status))
    } catch (error) {
      ended.reject(error)
    }
  })
  const fail = (cause: string) =>
    ended.reject(new SvcError('Unavailable', `the connection to its pod was lost: ${cause}`))
  socket.addEventListener('error', (event) => fail(messageOf((event as { error?: unknown }).error)))
  socket.addEventListener('close', ({ code, reason }) => fail(`${code} ${reason}`.trim()))
  try {
    return await ended.promise
  } finally {
    removeListener()
    socket.close()
    release()
  }
}

type Captured = { code: number; stdout: Buffer; complaint: string }

const complaintLength = 500

/** Runs a program without input and reads what it writes; rejects with `tooMuch` when that is more than `maxBytes`. */
export async function captureInPod(
  connection: ApiConnection,
  program: Pick<ExecCommand, 'namespace' | 'pod' | 'container' | 'argv'>,
  { maxBytes, tooMuch, signal }: { maxBytes: number; tooMuch: unknown; signal: AbortSignal },
): Promise<Captured> {
  const chunks: Buffer[] = []
  let size = 0
  let complaint = ''
  const ending = new AbortController()
  const command = {
    ...program,
    input: Buffer.alloc(0),
    onStdout(chunk: Buffer) {
      size += chunk.length
      if (size > maxBytes) ending.abort(tooMuch)
      else chunks.push(chunk)
    },
    onStderr(chunk: Buffer) {
      complaint = (complaint + chunk.toString('utf8')).slice(0, complaintLength)
    },
  }
  const code = await execInPod(connection, command, AbortSignal.any([signal, ending.signal]))
  return { code, stdout: Buffer.concat(chunks), complaint: complaint.trim() }
}
