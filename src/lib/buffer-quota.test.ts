import { describe, expect, it } from 'vitest'
import { BufferQuota, BufferQuotaError } from './buffer-quota.ts'

const mebibyte = 1024 ** 2

describe('bytes that are held of bodies without end', () => {
  it('are bounded for each', async () => {
    const one = new BufferQuota({ each: mebibyte, all: 10 * mebibyte }).open()
    await one.add(mebibyte)
    expect(() => one.add(1)).toThrow(new BufferQuotaError('it sent more than 1 MiB'))
  })

  it('wait for room in all, which a release gives', async () => {
    const quota = new BufferQuota({ each: 10, all: 10 })
    const [first, second] = [quota.open(), quota.open()]
    await first.add(8)
    let hasRoom = false
    const waiting = Promise.resolve(second.add(4)).then(() => {
      hasRoom = true
    })
    await new Promise(setImmediate)
    expect({ hasRoom, bytes: quota.bytes }).toEqual({ hasRoom: false, bytes: 8 })
    first.release()
    first.release()
    await waiting
    expect(quota.bytes).toBe(4)
    second.release()
    expect(quota.bytes).toBe(0)
  })

  it('end with the largest when all wait', async () => {
    const quota = new BufferQuota({ each: 10, all: 10 })
    const [small, large] = [quota.open(), quota.open()]
    await small.add(4)
    await large.add(6)
    const waiting = Promise.resolve(small.add(1))
    await expect(large.add(1)).rejects.toThrow('the largest of those')
    large.release()
    await waiting
    expect(quota.bytes).toBe(5)
  })

  it('end the wait of one that is released', async () => {
    const quota = new BufferQuota({ each: 10, all: 10 })
    const [first, second] = [quota.open(), quota.open()]
    await first.add(10)
    const waiting = second.add(1)
    second.release()
    await waiting
    expect(quota.bytes).toBe(10)
  })
})
