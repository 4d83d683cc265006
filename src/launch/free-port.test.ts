import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { canListen, choosePort } from './free-port.ts'

const host = '127.0.0.1'
const taken = createServer()
afterEach(() => taken.close())

const configOf = (port: number, source: 'default' | 'flag', mode: 'embedded' | 'kubernetes' = 'embedded') =>
  ({ host, port, mode, sources: { port: source } }) as Parameters<typeof choosePort>[0]

it('keeps the usual port while it is free, and takes the next free one when it is not', async () => {
  await new Promise<void>((resolve) => taken.listen(0, host, resolve))
  const { port } = taken.address() as AddressInfo
  expect(await canListen(host, port)).toBe(false)
  const other = await choosePort(configOf(port, 'default'))
  expect(other).not.toBe(port)
  expect(other === 0 || (other > port && other <= port + 20)).toBe(true)
  // Somebody chose it, so that nothing else will do.
  expect(await choosePort(configOf(port, 'flag'))).toBe(port)
  expect(await choosePort(configOf(port, 'default', 'kubernetes'))).toBe(port)
  await new Promise((resolve) => taken.close(resolve))
  expect(await choosePort(configOf(port, 'default'))).toBe(port)
})
