// Untrusted programs get no namespace in which they would have capabilities, whatever bubblewrap itself can forbid.
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findControlGroups } from '../../src/runtime/local/confinement/control-groups.ts'
import { findSystemCallFilter } from '../../src/runtime/local/confinement/system-calls.ts'
import { createSandbox } from '../../src/runtime/local/sandbox/sandbox.ts'
import { waitFor } from '../fixtures/time.ts'
import { testIds } from './embedded-bench.ts'
import { openEmbeddedBench } from './embedded-workloads-bench.ts'

const probe = await probeBubblewrap()
const canTry = probe.available && existsSync('/usr/bin/unshare') && findSystemCallFilter() !== undefined
// As inside another sandbox, where bubblewrap cannot lock user namespaces.
const unlocked = probe.available ? { ...probe, bubblewrap: { ...probe.bubblewrap, locksUserNamespaces: false } } : probe
const attempt =
  'unshare -U true && echo got one; unshare -U -m -C true && echo got more; echo tried; (true) & wait; echo $!'
const limits = {
  timeoutMs: 20_000,
  memoryBytes: 134_217_728,
  cpuSeconds: 10,
  processes: 32,
  outputBytes: 65_536,
  diskBytes: 4_194_304,
}

describe.skipIf(!canTry)('user namespaces, where bubblewrap, unshare and filters of system calls can be had', () => {
  it('cannot be created by code in the sandbox', async () => {
    const sandbox = createSandbox({
      ids: testIds,
      bubblewrap: Promise.resolve(unlocked),
      groups: findControlGroups(),
    })
    const outcome = await sandbox.run({ argv: ['bash', '-c', attempt], limits }, new AbortController().signal)
    expect(outcome.stdout).toMatch(/^tried\n\d+\n$/)
    expect(outcome.stderr).toContain('Operation not permitted')
  })

  it('cannot be created by commands without an image', async () => {
    const bench = openEmbeddedBench({ bubblewrap: Promise.resolve(unlocked) })
    const key = { taskUid: testIds.next('uid'), attempt: 1 }
    const run = { kind: 'command' as const, command: ['/bin/sh', '-c'], args: [attempt], env: {} }
    await bench.workloads.ensure({ key, namespace: 'default', taskName: 'namespaces', run, limits: {} })
    await waitFor(async () => {
      const { phase } = await bench.workloads.observe(key)
      return phase === 'Succeeded' || phase === 'Failed'
    }, 'the attempt has ended')
    await bench.workloads.remove(key)
    await bench.close()
    const lines = bench.logs.get(key.taskUid) ?? []
    expect(lines).toContain('tried')
    expect(lines).not.toContain('got one')
    expect(lines).not.toContain('got more')
  })
})
