// The Programs port of a worker in a pod: programs run in the container beside it, which has neither its files nor its
// processes.
import { connect, type Socket } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { messageOf } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ProgramExit, ProgramStart, Programs, RunningProgram } from '../../ports/workspaces/sandbox.ts'
import { createProgramFrameReader, fromHost, type ProgramFrame, toHost, writeFrame } from './frames.ts'

/** The container may start after the worker's. */
const tries = 600
const pauseMs = 100

function dial(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', reject)
  })
}

async function dialWithRetries(path: string, clock: Clock): Promise<Socket> {
  for (let left = tries; ; left -= 1) {
    try {
      return await dial(path)
    } catch (error) {
      if (left === 1) throw error
      await clock.sleep(pauseMs)
    }
  }
}

function openInput(socket: Socket): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => void socket.write(writeFrame(toHost.input, chunk), () => done()),
    final: (done) => void socket.write(writeFrame(toHost.inputEnd), () => done()),
  })
}

/** Whoever reads slowly is waited for. */
function hand(stream: PassThrough, body: Buffer, socket: Socket): void {
  if (stream.destroyed || stream.write(body)) return
  socket.pause()
  for (const event of ['drain', 'close']) stream.once(event, () => socket.resume())
}

function follow(socket: Socket): RunningProgram {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const exited = Promise.withResolvers<ProgramExit>()
  const read = createProgramFrameReader()
  const act = ({ type, body }: ProgramFrame) => {
    if (type === fromHost.stdout) hand(stdout, body, socket)
    else if (type === fromHost.stderr) hand(stderr, body, socket)
    else if (type === fromHost.exit) exited.resolve(JSON.parse(body.toString('utf8')) as ProgramExit)
  }
  socket.on('data', (piece: Buffer) => {
    try {
      read(piece).forEach(act)
    } catch (error) {
      socket.destroy(error as Error)
    }
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    stdout.end()
    stderr.end()
    // After an exit that was reported this changes nothing.
    exited.resolve({ code: null, signal: 'SIGKILL' })
  })
  const send = async (type: number) => void (socket.writable && socket.write(writeFrame(type)))
  return {
    stdin: openInput(socket),
    stdout,
    stderr,
    exited: exited.promise,
    terminate: () => send(toHost.terminate),
    kill: () => send(toHost.kill),
  }
}

function failStart(error: unknown): RunningProgram {
  const ended = () => new PassThrough().end()
  const exit = { code: null, signal: null, startError: `its container does not answer: ${messageOf(error)}` }
  const nothing = async () => undefined
  return {
    stdin: undefined,
    stdout: ended(),
    stderr: ended(),
    exited: Promise.resolve(exit),
    terminate: nothing,
    kill: nothing,
  }
}

/** `path`: of the socket on which the container listens. */
export function createPodPrograms({ path, clock }: { path: string; clock: Clock }): Programs {
  return {
    isolationGap: async () => undefined,
    async start(program: ProgramStart) {
      try {
        const socket = await dialWithRetries(path, clock)
        socket.write(writeFrame(toHost.start, Buffer.from(JSON.stringify(program))))
        return follow(socket)
      } catch (error) {
        return failStart(error)
      }
    },
  }
}
