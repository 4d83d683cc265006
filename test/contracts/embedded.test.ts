// The suites of the ports that the embedded adapters keep on this machine.
import { describe, it } from 'vitest'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findControlGroups } from '../../src/runtime/local/confinement/control-groups.ts'
import { createSandbox } from '../../src/runtime/local/sandbox/sandbox.ts'
import { testIds } from './embedded-bench.ts'
import { openEmbeddedBench } from './embedded-workloads-bench.ts'
import { describeSandbox } from './sandbox.contract.ts'
import { describeWorkloads } from './workloads.contract.ts'

const probe = await probeBubblewrap()
const groups = await findControlGroups()

if (probe.available) {
  const isRoot = process.getuid?.() === 0
  const unlimited = isRoot && groups.controllers.length < 2 ? 'control groups cannot be made here' : undefined
  describeSandbox('bubblewrap', async () => ({
    sandbox: createSandbox({ ids: testIds, bubblewrap: Promise.resolve(probe), groups: Promise.resolve(groups) }),
    kind: 'bubblewrap',
    ...(unlimited === undefined ? {} : { unlimited }),
    close: async () => undefined,
  }))
} else {
  describe.skip(`sandbox: bubblewrap (${probe.reason})`, () => {
    it('is tested where it is installed', () => undefined)
  })
}

const withoutMemory = groups.controllers.includes('memory') ? undefined : 'control groups cannot be made here'
const unlimitedMemory = withoutMemory === undefined ? {} : { unlimited: withoutMemory }

if (probe.available) {
  describeWorkloads('commands in bubblewrap', async () => ({ ...openEmbeddedBench(), ...unlimitedMemory }))
}

describeWorkloads('commands without a sandbox, where that is allowed', async () => {
  const none = { available: false as const, reason: 'there is none in this test', suggestion: 'none' }
  const noSecretFiles = 'refused: only a sandbox can show them'
  const bench = openEmbeddedBench({ allowUnsandboxed: true, bubblewrap: Promise.resolve(none) })
  return { ...bench, ...unlimitedMemory, noSecretFiles }
})
