import { describe, expect, it } from 'vitest'
import { HeldBytes, HeldTooMuchError } from './held-bytes.ts'

const mebibyte = 1024 ** 2

describe('bytes that are held of bodies without end', () => {
  it('are bounded for each', () => {
    const one = new HeldBytes({ each: mebibyte, all: 10 * mebibyte }).open()
    one.add(mebibyte)
    expect(() => one.add(1)).toThrow(new HeldTooMuchError('it sent more than 1 MiB'))
  })

  it('wait for room in all, which a release gives', async () => {
    const held = new HeldBytes({ each: 10, all: 10 })
    const [first, second] = [held.open(), held.open()]
    first.add(8)
    let hasRoom = false
    const waiting = Promise.resolve(second.add(4)).then(() => {
      hasRoom = true
    })
    await new Promise(setImmediate)
    expect({ hasRoom, bytes: held.bytes }).toEqual({ hasRoom: false, bytes: 8 })
    first.release()
    first.release()
    await waiting
    expect(held.bytes).toBe(4)
    second.release()
    expect(held.bytes).toBe(0)
  })

  it('end with the largest when all wait', async () => {
    const held = new HeldBytes({ each: 10, all: 10 })
    const [small, large] = [held.open(), held.open()]
    small.add(4)
    large.add(6)
    const waiting = Promise.resolve(small.add(1))
    await expect(large.add(1)).rejects.toThrow('the largest of those')
    large.release()
    await waiting
    expect(held.bytes).toBe(5)
  })

  it('end the wait of one that is released', async () => {
    const held = new HeldBytes({ each: 10, all: 10 })
    const [first, second] = [held.open(), held.open()]
    first.add(10)
    const waiting = second.add(1)
    second.release()
    await waiting
    expect(held.bytes).toBe(10)
  })
})
