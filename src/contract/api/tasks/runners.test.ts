import { describe, expect, it } from 'vitest'
import {
  drainRunner,
  RegisteredRunner,
  RenewedLease,
  RunnerDrain,
  RunnerOrder,
  RunnerRegistration,
  RunnerRenewal,
  readWork,
  registerRunner,
  renewRunner,
  runnerLimits,
  runnerProtocol,
} from './runners.ts'

const key = { taskUid: 'uid-report', attempt: 2 }
const registration = {
  protocol: runnerProtocol,
  version: '0.1.0',
  slots: 1000,
  attemptBytes: 67_108_864,
  runs: ['ai'],
  runsCode: false,
}
const renewal = { slots: 1000, lagMs: 2, rssBytes: 300_000_000, attempts: [{ ...key, bytes: 1024 }] }

describe('the protocol of runners', () => {
  it('lies below the worker API; a runner speaks for itself', () => {
    const own = [registerRunner, readWork, renewRunner, drainRunner]
    expect(own.map(({ auth }) => auth)).toEqual(['runner', 'runner', 'runner', 'runner'])
    for (const { path } of own) expect(path).toMatch(/^\/internal\/v1\/runners(\/:id\/[a-z]+)?$/)
  })

  it('renews several times within a lease, and waits longer for a runner than that goes on', () => {
    expect(runnerLimits.renewMs * 2).toBeLessThan(runnerLimits.leaseMs)
    expect(runnerLimits.quietMs).toBeLessThan(runnerLimits.leaseMs)
    expect(runnerLimits.graceMs).toBeGreaterThan(0)
  })

  it('registers what runs something, and nothing else', () => {
    expect(RunnerRegistration.parse(registration)).toEqual(registration)
    expect(RunnerRegistration.safeParse({ ...registration, runs: [] }).success).toBe(false)
    expect(RunnerRegistration.safeParse({ ...registration, slots: runnerLimits.slots + 1 }).success).toBe(false)
    expect(RunnerRegistration.safeParse({ ...registration, token: 'x' }).success).toBe(false)
    const registered = { id: 'runner-1', leaseMs: 15_000, renewMs: 5_000 }
    expect(RegisteredRunner.parse(registered)).toEqual(registered)
  })

  it('has three orders; what a runner cannot read of an assignment is for that attempt alone', () => {
    const orders = [
      { type: 'assign', key, assignment: { version: 99 }, folder: 'a1' },
      { type: 'assign', key, assignment: 'nothing' },
      { type: 'stop', key, reason: 'the task was cancelled', graceMs: 10_000 },
      { type: 'retire' },
    ]
    expect(orders.map((order) => RunnerOrder.parse(order))).toEqual(orders)
  })

  it.each([
    { type: 'assign', key: { taskUid: 'uid-report', attempt: 0 }, assignment: {} },
    { type: 'assign', key, assignment: {}, folder: '../b' },
    { type: 'assign', key, assignment: {}, folder: '' },
    { type: 'stop', key, reason: 'x', graceMs: -1 },
    { type: 'dance' },
  ])('has no order like %j', (order) => {
    expect(RunnerOrder.safeParse(order).success).toBe(false)
  })

  it('renews with what each attempt holds and which one ran last; the answer names what is not live any more', () => {
    expect(RunnerRenewal.parse({ ...renewal, current: key })).toEqual({ ...renewal, current: key })
    expect(RunnerRenewal.safeParse({ ...renewal, attempts: [key] }).success).toBe(false)
    expect(RenewedLease.parse({ leaseMs: 15_000, drop: [key] })).toEqual({ leaseMs: 15_000, drop: [key] })
    expect(RunnerDrain.parse({ attempts: [key] })).toEqual({ attempts: [key] })
  })
})
