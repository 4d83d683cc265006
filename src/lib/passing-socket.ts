// A connection whose bytes go straight on to another one: they are read into one buffer, which is used again once it is written, so that
// nothing has to be allocated for them.
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Four times of what Node reads at once. */
const bufferBytes = 256 * 1024

/** Passes on what it receives once it is resumed, and its end; never faster than the other one takes it. What it sends is for the caller. */
export function connectPassing(options: NetConnectOpts, to: Duplex): Socket {
  const buffer = Buffer.allocUnsafeSlow(bufferBytes)
  let isFree = true
  const noteWritten = () => {
    if (isFree) return
    isFree = true
    socket.resume()
  }
  const callback = (size: number) => {
    to.write(buffer.subarray(0, size), noteWritten)
    isFree = to.writableLength === 0
    return isFree
  }
  const socket: Socket = connect({ ...options, onread: { buffer, callback } })
  socket.pause()
  socket.once('end', () => to.end())
  return socket
}
