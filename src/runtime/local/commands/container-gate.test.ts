import { Readable } from 'node:stream'
import type Docker from 'dockerode'
import { describe, expect, it } from 'vitest'
import { explainUngated, startGateContainer } from './container-gate.ts'

/** As the engine frames output (kind, three zeros, length). */
function frame(text: string): Buffer {
  const head = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])
  head.writeUInt32BE(text.length, 4)
  return Buffer.concat([head, Buffer.from(text)])
}

const containerThat = (...printed: string[]) =>
  ({
    attach: async () => Readable.from(printed.map(frame)),
    start: async () => undefined,
  }) as unknown as Docker.Container

const advice = /Docker Desktop.*Docker Engine or Podman.*--container-socket.*"open"/

describe('the network of a container', () => {
  it('is there once its forwarder says so', async () => {
    await expect(startGateContainer(containerThat('rea', 'dy'))).resolves.toBeUndefined()
  })

  it.each([
    [['connect ENOTSUP'], 'could not be set up (connect ENOTSUP)'],
    [[], 'could not be set up (its forwarder ended without a word)'],
  ])('is refused with what to do when its forwarder prints %j', async (printed, why) => {
    const refused = startGateContainer(containerThat(...printed))
    await expect(refused).rejects.toMatchObject({ reason: 'StartFailed', message: expect.stringContaining(why) })
    await expect(startGateContainer(containerThat(...printed))).rejects.toThrow(advice)
  })

  it('is refused with what to do where no engine can have one', () => {
    expect(explainUngated(true)).toMatch(advice)
    expect(explainUngated(false)).toMatch(/bubblewrap.*"open"/)
  })
})
