// Pkt-lines, the frames of git's protocol (gitprotocol-common(5)).

export const flush = Buffer.from('0000')
const delimiter = '0001'

/** The largest frame: four digits of length, and data. */
const maxFrameBytes = 65_520

/** Frames of a request of protocol version 2: the command and its capabilities, then its arguments. */
export function writeRequest(head: string[], args: string[]): Buffer {
  return Buffer.from([...head.map(frame), delimiter, ...args.map(frame), flush.toString()].join(''))
}

function frame(text: string): string {
  const line = `${text}\n`
  return (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line
}

export class FrameError extends Error {}

/** The length of the frame at `offset`, 0 to 2 for one without data; undefined while its digits are not there. */
function lengthAt(bytes: Buffer, offset: number): number | undefined {
  if (bytes.length - offset < 4) return undefined
  const digits = bytes.toString('latin1', offset, offset + 4)
  const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : -1
  if (length < 0 || length === 3 || length > maxFrameBytes) throw new FrameError('not a frame of the git protocol')
  return length
}

/** Where the first flush ends, or undefined while it is not there. */
export function endOfFlush(bytes: Buffer): number | undefined {
  for (let offset = 0; ; ) {
    const length = lengthAt(bytes, offset)
    if (length === undefined || offset + length > bytes.length) return undefined
    if (length === 0) return offset + 4
    offset += Math.max(length, 4)
  }
}

/** The texts of the frames up to a flush, without their line ends. */
export function readPktLines(bytes: Buffer): string[] {
  const lines: string[] = []
  for (let offset = 0; offset < bytes.length; ) {
    const length = lengthAt(bytes, offset)
    if (length === undefined || offset + length > bytes.length) throw new FrameError('the answer was cut off')
    if (length === 0) break
    if (length >= 4) lines.push(bytes.toString('utf8', offset + 4, offset + length).replace(/\n$/, ''))
    offset += Math.max(length, 4)
  }
  return lines
}
