// What connections lead to: it answers the first bytes of each with the same bytes, or with a download where they name the host of one.
import { createServer, type Socket } from 'node:net'

const [bytes = '0', bytesPerSecond = '0'] = process.argv.slice(2)
const chunk = Buffer.alloc(256 * 1024, 'x')
const tickMs = 5

/** As fast as it is read. */
function send(socket: Socket, left: number): void {
  let rest = left
  const next = () => {
    while (rest > 0) {
      const size = Math.min(rest, chunk.length)
      rest -= size
      if (!socket.write(chunk.subarray(0, size))) return void socket.once('drain', next)
    }
    socket.end()
  }
  next()
}

/** As fast as a link of that speed would be. */
function sendAtSpeed(socket: Socket, total: number): void {
  const began = performance.now()
  let sent = 0
  const timer = setInterval(() => {
    const due = Math.min(total, (Number(bytesPerSecond) * (performance.now() - began)) / 1000)
    while (sent < due && socket.writableLength < chunk.length) {
      const size = Math.min(chunk.length, Math.ceil(due - sent))
      socket.write(chunk.subarray(0, size))
      sent += size
    }
    if (sent < total) return
    clearInterval(timer)
    socket.end()
  }, tickMs)
  socket.on('close', () => clearInterval(timer))
}

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined)
  socket.once('data', (first) => {
    if (first.includes('download.bench.example')) return send(socket, Number(bytes))
    if (first.includes('link.bench.example')) return sendAtSpeed(socket, Number(bytes) / 4)
    socket.end(first)
  })
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () => {
  const { port } = server.address() as { port: number }
  process.send?.({ url: `tcp://127.0.0.1:${port}` })
})
process.on('disconnect', () => process.exit(0))
