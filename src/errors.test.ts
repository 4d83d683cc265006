import { describe, expect, it } from 'vitest'
import { ignoring, SvcError } from './errors.ts'

const failing = async () => {
  throw new SvcError('Conflict', 'it changed meanwhile')
}

describe('work whose failures are ignored', () => {
  it('comes to what it resolves to', async () => {
    expect(await ignoring(Promise.resolve(7), 'NotFound')).toBe(7)
  })

  it('comes to nothing where it fails for a reason that is named', async () => {
    expect(await ignoring(failing(), 'NotFound', 'Conflict')).toBeUndefined()
  })

  it('fails for any other reason', async () => {
    await expect(ignoring(failing(), 'NotFound')).rejects.toThrow('it changed meanwhile')
    await expect(ignoring(Promise.reject(new Error('a fault')), 'NotFound')).rejects.toThrow('a fault')
  })
})
