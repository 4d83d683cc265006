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
for (const [port, path] of ports) {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (left) => {
    const right = connect({ path, allowHalfOpen: true })
    for (const [from, to] of [[left, right], [right, left]]) {
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.pipe(to)
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
const starter = `[ "$("$1" ${forwarderOptions.join(' ')} -e "$2" "$3" </dev/null 2>/dev/null & )" = ready ] || {
  echo 'the network of this program could not be set up' >&2
  exit 126
}
shift 3
exec "$@"`

/** The program with its arguments, started once its ports lead outside. */
export function withForwarder(
  argv: string[],
  { nodePath, ports }: { nodePath: string; ports: ForwardedPorts },
): string[] {
  return ['/bin/sh', '-c', starter, 'sh', nodePath, forwarder, JSON.stringify(ports), ...argv]
}
