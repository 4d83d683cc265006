import { describe, expect, it } from 'vitest'
import { makeResources } from './hardening.ts'

const mebibyte = 1024 ** 2

describe('the resources of a pod', () => {
  it('are small requests, and limits as given, where the task requests nothing', () => {
    expect(makeResources('command', { cpu: 1, memoryBytes: 512 * mebibyte })).toEqual({
      requests: { cpu: '10m', memory: String(32 * mebibyte) },
      limits: { cpu: '1000m', memory: String(512 * mebibyte) },
    })
    expect(makeResources('worker', {}).requests).toEqual({ cpu: '50m', memory: String(128 * mebibyte) })
  })

  it('are the task’s own requests, each in place of its default', () => {
    const limits = { cpu: 2, memoryBytes: 512 * mebibyte, requests: { cpu: 0.5 } }
    expect(makeResources('command', limits).requests).toEqual({ cpu: '500m', memory: String(32 * mebibyte) })
  })

  it('never request more than the limits, which the API server would refuse', () => {
    const limits = { cpu: 0.005, memoryBytes: 16 * mebibyte, requests: { memoryBytes: 64 * mebibyte } }
    expect(makeResources('worker', limits).requests).toEqual({ cpu: '5m', memory: String(16 * mebibyte) })
  })
})
