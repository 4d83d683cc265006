// A program that has no network of its own, but ports on its loopback that lead to Unix sockets outside: to its gate, and to what else
// it may call. A small forwarder beside it, in its sandbox, listens there; without it, or when it is ended, there is nothing.

/** Ports on 127.0.0.1, each with the absolute path of a Unix socket as the sandbox sees it. */
type ForwardedPorts = Readonly<Record<number, string>>

/** The folder of its socket inside. */
export const gateFolderInside = '/run/svc-network'
export const gateSocketInside = `${gateFolderInside}/gate`

/** Not from the file of this module: whatever holds the program runs it, and no sandbox has to show a file for it. */
const forwarder = `
const { connect, createServer } = require('node:net')
const { closeSync, openSync, writeSync } = require('node:fs')
process.on('uncaughtException', () => undefined)
const ports = Object.entries(JSON.parse(process.argv[1]))
let waiting = ports.length
const main = Number(process.argv[2])
if (main > 0)
  setInterval(() => {
    try {
      process.kill(main, 0)
    } catch {
      process.exit()
    }
  }, 200)
for (const [port, path] of ports) {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (left) => {
    // As in lib/passing-socket.ts.
    let buffer = Buffer.allocUnsafeSlow(16384)
    let isFree = true
    const noteWritten = () => {
      if (isFree) return
      isFree = true
      right.resume()
    }
    const callback = (size) => {
      left.write(buffer.subarray(0, size), noteWritten)
      isFree = left.writableLength === 0
      if (size === 16384 && buffer.length === size) buffer = Buffer.allocUnsafeSlow(262144)
      return isFree
    }
    const right = connect({ path, allowHalfOpen: true, onread: { buffer: () => buffer, callback } })
    right.once('end', () => left.end())
    left.pipe(right)
    for (const [from, to] of [[left, right], [right, left]]) {
      from.on('error', () => to.destroy())
      from.on('close', () => (from.readableEnded ? to.destroySoon() : to.destroy()))
    }
  })
  server.listen({ port: Number(port), host: '127.0.0.1', backlog: 1024 }, () => {
    waiting -= 1
    if (waiting > 0) return
    writeSync(1, 'ready')
    // Whoever waits reads the end; no connection may get the number, which is not one for connections.
    closeSync(1)
    openSync('/dev/null', 'w')
  })
}
`

const forwarderOptions = ['--max-old-space-size=64', '--max-semi-space-size=2']

/** Of Node, for a forwarder that stands alone: it says `ready` once all of its ports listen. */
export function forwarderArguments(ports: ForwardedPorts): string[] {
  return [...forwarderOptions, '-e', forwarder, JSON.stringify(ports)]
}

// It is no child of the program, which would otherwise find one that it did not start, and holds none of its pipes.
const starter = `case $4 in own) main=$$;; *) main=;; esac
[ "$("$1" ${forwarderOptions.join(' ')} -e "$2" "$3" $main </dev/null 2>/dev/null & )" = ready ] || {
  echo 'the network of this program could not be set up' >&2
  exit 126
}
shift 4
exec "$@"`

type ForwarderStart = {
  nodePath: string
  ports: ForwardedPorts
  /** Whether its sandbox goes on after it, for what it has left running: that has no network then. */
  outlived?: boolean
}

/** The program with its arguments, started once its ports lead outside. */
export function withForwarder(argv: string[], { nodePath, ports, outlived }: ForwarderStart): string[] {
  const ends = outlived ? 'own' : 'sandbox'
  return ['/bin/sh', '-c', starter, 'sh', nodePath, forwarder, JSON.stringify(ports), ends, ...argv]
}
