// Which system calls untrusted programs may not make: a seccomp filter that prevents further namespaces inside a
// sandbox.
import { readFileSync } from 'node:fs'

/**
 * Numbers of system calls by architecture (Linux arch/x86/entry/syscalls/syscall_64.tbl,
 * include/uapi/asm-generic/unistd.h). A process that creates a user namespace has every capability in it: enough to
 * mount the control groups of the machine, and to reach a large part of the kernel that is otherwise only for root.
 * `refused`: mounts, kernel keys, tracing of the machine.
 */
const tables = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    unshare: 272,
    refused: [155, 165, 166, 248, 249, 250, 298, 308, 321, 323],
    // The x32 calls, a second ABI on the same architecture.
    firstForeign: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    unshare: 97,
    refused: [39, 40, 41, 217, 218, 219, 241, 268, 280, 282],
    firstForeign: undefined,
  },
} as const

/** The same everywhere: io_uring, and the newer calls for mounts. */
const refusedEverywhere = [425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 467]
// Its flags are in memory, which a filter cannot read; a program that is told the call does not exist uses clone
// instead.
const clone3 = 435

const newUserNamespace = 0x10000000
const [notPermitted, notImplemented] = [1, 38]
const [architectureAt, firstArgumentAt] = [4, 16]
const [loadWord, jumpEqual, jumpGreaterOrEqual, jumpAnySet, giveBack] = [0x20, 0x15, 0x35, 0x45, 0x06]
const [allow, refuse] = [0x7fff0000, 0x00050000]

type Instruction = [code: number, jumpTrue: number, jumpFalse: number, value: number]

function answer(value: number): Instruction {
  return [giveBack, 0, 0, value]
}

/** Applies the next instruction only when the comparison holds. */
function whenEqual(value: number, then: Instruction): Instruction[] {
  return [[jumpEqual, 0, 1, value], then]
}

function listInstructions(architecture: keyof typeof tables): Instruction[] {
  const { audit, clone, unshare, refused, firstForeign } = tables[architecture]
  const foreign: Instruction[] =
    firstForeign === undefined ? [] : [[jumpGreaterOrEqual, 0, 1, firstForeign], answer(refuse | notImplemented)]
  return [
    [loadWord, 0, 0, architectureAt],
    [jumpEqual, 1, 0, audit],
    answer(refuse | notImplemented),
    [loadWord, 0, 0, 0],
    ...foreign,
    ...whenEqual(clone3, answer(refuse | notImplemented)),
    ...[...refused, ...refusedEverywhere].flatMap((call) => whenEqual(call, answer(refuse | notPermitted))),
    [jumpEqual, 1, 0, clone],
    [jumpEqual, 0, 3, unshare],
    [loadWord, 0, 0, firstArgumentAt],
    [jumpAnySet, 0, 1, newUserNamespace],
    answer(refuse | notPermitted),
    answer(allow),
  ]
}

/**
 * The filter as bubblewrap's `--seccomp` reads it (struct sock_filter); undefined for an architecture without a table.
 */
export function buildSystemCallFilter(architecture: string): Buffer | undefined {
  if (architecture !== 'x64' && architecture !== 'arm64') return undefined
  const instructions = listInstructions(architecture)
  const filter = Buffer.alloc(instructions.length * 8)
  instructions.forEach(([code, jumpTrue, jumpFalse, value], index) => {
    filter.writeUInt16LE(code, index * 8)
    filter.writeUInt8(jumpTrue, index * 8 + 2)
    filter.writeUInt8(jumpFalse, index * 8 + 3)
    filter.writeUInt32LE(value >>> 0, index * 8 + 4)
  })
  return filter
}

function kernelHasFilters(): boolean {
  try {
    return /^Seccomp:/m.test(readFileSync('/proc/self/status', 'utf8'))
  } catch {
    return false
  }
}

let found: { filter: Buffer | undefined } | undefined

/** The filter for this machine; undefined where the kernel has none. */
export function findSystemCallFilter(): Buffer | undefined {
  found ??= { filter: kernelHasFilters() ? buildSystemCallFilter(process.arch) : undefined }
  return found.filter
}
