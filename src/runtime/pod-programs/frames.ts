// What goes over the socket between a worker and the container that its agent program runs in: frames of a type, a length
// (32 bits, big-endian) and so many bytes.
import type { ProgramStart } from '../../ports/workspaces/sandbox.ts'

/** From the worker: the program, as JSON; what it reads, and its end; signals. */
export const toHost = { start: 0, input: 1, inputEnd: 2, terminate: 3, kill: 4 } as const
/** From the host: what the program writes; its exit, as JSON. */
export const fromHost = { stdout: 0, stderr: 1, exit: 2 } as const

export type ProgramFrame = { type: number; body: Buffer }

const headBytes = 5
/** A pipe gives far less at once. */
const maxBodyBytes = 16 * 1024 ** 2

export function writeFrame(type: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(type, 0)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}

/** The first frame, once all of it is there. */
function takeFrame(bytes: Buffer): ProgramFrame | undefined {
  if (bytes.length < headBytes) return undefined
  const length = bytes.readUInt32BE(1)
  if (length > maxBodyBytes) throw new Error(`a frame of ${length} bytes`)
  if (bytes.length < headBytes + length) return undefined
  return { type: bytes.readUInt8(0), body: bytes.subarray(headBytes, headBytes + length) }
}

/** Frames of a stream that comes in pieces of any size. Throws when one is too long. */
export function createProgramFrameReader(): (piece: Buffer) => ProgramFrame[] {
  let rest: Buffer = Buffer.alloc(0)
  return (piece) => {
    rest = Buffer.concat([rest, piece])
    const frames: ProgramFrame[] = []
    for (let frame = takeFrame(rest); frame !== undefined; frame = takeFrame(rest)) {
      frames.push(frame)
      rest = rest.subarray(headBytes + frame.body.length)
    }
    return frames
  }
}

export function readStart(body: Buffer): ProgramStart {
  return JSON.parse(body.toString('utf8')) as ProgramStart
}
