// A connection whose bytes go straight on to another one: they are read into one buffer, which is used again once it is written, so that
// nothing has to be allocated for them.
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Most connections say little, and a large buffer is what costs most of them. */
const firstBytes = 16 * 1024
/** Of one that has filled the first; four times of what Node reads at once. */
const bufferBytes = 256 * 1024

/** Passes on what it receives once it is resumed, and its end; never faster than the other one takes it. What it sends is for the caller. */
export function connectPassing(options: NetConnectOpts, to: Duplex): Socket {
  let buffer = Buffer.allocUnsafeSlow(firstBytes)
  let isFree = true
  const noteWritten = () => {
    if (isFree) return
    isFree = true
    socket.resume()
  }
  const callback = (size: number) => {
    to.write(buffer.subarray(0, size), noteWritten)
    isFree = to.writableLength === 0
    if (size === firstBytes && buffer.length === firstBytes) buffer = Buffer.allocUnsafeSlow(bufferBytes)
    return isFree
  }
  const socket: Socket = connect({ ...options, onread: { buffer: () => buffer, callback } })
  socket.pause()
  socket.once('end', () => to.end())
  return socket
}
