// The first process of the container that an agent program runs in: starts the one program that its worker names, and ends
// with it. It holds nothing that the program may not have: the worker's token and assignment are in another container.
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { onAbort } from '../../lib/abort.ts'
import { readExit } from '../attempts/end.ts'
import { createProgramFrameReader, fromHost, type ProgramFrame, readStart, toHost, writeFrame } from './frames.ts'

/** All else in the container, where it is a container's first process; elsewhere the program's group. */
function killAll(child: ChildProcess): void {
  try {
    process.kill(process.pid === 1 ? -1 : -(child.pid ?? 0), 'SIGKILL')
  } catch {
    // Nothing is left.
  }
}

/** A reader that is slow slows the program down. */
function pass(stream: Readable, type: number, socket: Socket): void {
  stream.on('data', (chunk: Buffer) => {
    if (socket.write(writeFrame(type, chunk))) return
    stream.pause()
    socket.once('drain', () => stream.resume())
  })
}

function launch(body: Buffer, socket: Socket): ChildProcess {
  const { argv, folder, env } = readStart(body)
  const [file = '', ...args] = argv
  const child = spawn(file, args, { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => undefined)
  pass(child.stdout, fromHost.stdout, socket)
  pass(child.stderr, fromHost.stderr, socket)
  const report = (exit: object) => socket.end(writeFrame(fromHost.exit, Buffer.from(JSON.stringify(exit))))
  child.once('error', (error) => report({ code: null, signal: null, startError: error.message }))
  // What it started in the background ends with it, and then so do its streams.
  child.once('exit', () => killAll(child))
  child.once('close', (code, signal) => {
    if (child.pid !== undefined) report(readExit(code, signal))
  })
  return child
}

function sendToProgram(child: ChildProcess, { type, body }: ProgramFrame): void {
  if (type === toHost.input) child.stdin?.write(body)
  else if (type === toHost.inputEnd) child.stdin?.end()
  else if (type === toHost.terminate) child.kill('SIGTERM')
  else if (type === toHost.kill) killAll(child)
}

function serve(socket: Socket): void {
  const read = createProgramFrameReader()
  let child: ChildProcess | undefined
  const act = (frame: ProgramFrame) => {
    if (child !== undefined) sendToProgram(child, frame)
    else if (frame.type === toHost.start) child = launch(frame.body, socket)
  }
  socket.on('data', (piece: Buffer) => read(piece).forEach(act))
  socket.on('error', () => undefined)
  socket.on('close', () => child?.exitCode === null && killAll(child))
}

/** Waits at `path` for one worker; resolves when that has gone. */
export async function hostProgram(path: string, stop: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    // Nobody else is served.
    server.close()
    socket.on('close', () => ended.resolve())
    serve(socket)
  })
  server.on('error', ended.reject)
  onAbort(stop, () => ended.resolve())
  server.listen(path)
  await ended.promise
  server.close()
}
