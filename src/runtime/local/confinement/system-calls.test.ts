import { describe, expect, it } from 'vitest'
import { buildSystemCallFilter } from './system-calls.ts'

type Call = { audit: number; call: number; argument?: number }

function verdictOf(answer: number): 'allowed' | number {
  return answer === 0x7fff0000 ? 'allowed' : answer & 0xffff
}

/** What the kernel would do with the filter (struct seccomp_data: the call, the architecture, its place, its arguments). */
function judge(filter: Buffer, { audit, call, argument = 0 }: Call): 'allowed' | number {
  const words: Record<number, number> = { 0: call, 4: audit, 16: argument }
  const holds: Record<number, (word: number, value: number) => boolean> = {
    21: (word, value) => word === value,
    53: (word, value) => word >= value,
    69: (word, value) => (word & value) !== 0,
  }
  let word = 0
  for (let at = 0; at < filter.length / 8; at++) {
    const [code, value] = [filter.readUInt16LE(at * 8), filter.readUInt32LE(at * 8 + 4)]
    if (code === 6) return verdictOf(value)
    if (code === 32) word = words[value] ?? Number.NaN
    else at += filter.readUInt8(at * 8 + (holds[code]?.(word, value) ? 2 : 3))
  }
  throw new Error('the filter has no end')
}

const machines = [
  { architecture: 'x64', audit: 0xc000003e, clone: 56, unshare: 272, mount: 165, setns: 308, bpf: 321, read: 0 },
  { architecture: 'arm64', audit: 0xc00000b7, clone: 220, unshare: 97, mount: 40, setns: 268, bpf: 280, read: 63 },
]
const [newUser, newMount, threads] = [0x10000000, 0x20000, 0x3d0f00]
const [notPermitted, notImplemented] = [1, 38]

describe.each(machines)('the filter of system calls on $architecture', ({ architecture, audit, ...calls }) => {
  const filter = buildSystemCallFilter(architecture) ?? Buffer.alloc(0)
  const ask = (call: number, argument?: number) =>
    judge(filter, { audit, call, ...(argument === undefined ? {} : { argument }) })

  it('lets ordinary calls, processes and threads pass', () => {
    expect([ask(calls.read), ask(calls.clone, 17), ask(calls.clone, threads), ask(calls.unshare, newMount)]).toEqual(
      Array(4).fill('allowed'),
    )
  })

  it('refuses a new user namespace through any system call', () => {
    expect([
      ask(calls.unshare, newUser),
      ask(calls.unshare, newUser | newMount),
      ask(calls.clone, newUser | 17),
    ]).toEqual(Array(3).fill(notPermitted))
    expect(ask(435)).toBe(notImplemented)
  })

  it('refuses mounts, entering namespaces, loading programs into the kernel and io_uring', () => {
    const refused = [calls.mount, calls.setns, calls.bpf, 425, 426, 427, 428, 429, 430, 432, 442]
    expect(refused.map((call) => ask(call))).toEqual(refused.map(() => notPermitted))
  })

  it('refuses the system calls of any other architecture', () => {
    expect(judge(filter, { audit: 0x40000003, call: calls.read })).toBe(notImplemented)
  })
})

describe('the filter of system calls', () => {
  it('does not take x32 calls for x64 calls', () => {
    const filter = buildSystemCallFilter('x64') ?? Buffer.alloc(0)
    expect(judge(filter, { audit: 0xc000003e, call: 0x40000000 + 272, argument: newUser })).toBe(notImplemented)
  })

  it('is absent for an architecture whose call numbers are not known', () => {
    expect(buildSystemCallFilter('riscv64')).toBeUndefined()
  })
})
