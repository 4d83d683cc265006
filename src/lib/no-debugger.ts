/**
 * Node opens a debugger on the loopback when it gets SIGUSR1, as programs that rotate logs send it: whoever reaches that port, and
 * agents share the machine's network, then reads all memory. A listener of one's own takes its place.
 */
export function refuseDebugger(): void {
  process.on('SIGUSR1', () => undefined)
}
