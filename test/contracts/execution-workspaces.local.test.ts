// Execution workspaces of embedded mode: folders of this machine.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { probeBubblewrap } from '../../src/adapters/embedded/confinement/bubblewrap.ts'
import { findControlGroups } from '../../src/adapters/embedded/confinement/control-groups.ts'
import {
  createLocalWorkspaces,
  type LocalWorkspacesOptions,
} from '../../src/adapters/embedded/execution-workspaces/workspaces.ts'
import { systemClock } from '../../src/adapters/system/clock.ts'
import { describeExecutionWorkspaces } from './execution-workspaces.contract.ts'

function optionsFor(root: string, changes: Partial<LocalWorkspacesOptions> = {}): LocalWorkspacesOptions {
  return {
    root,
    template: 'default',
    worker: ['true'],
    prefix: `svc-test-workspaces-${process.pid}`,
    bubblewrap: probeBubblewrap(),
    groups: findControlGroups(),
    clock: systemClock,
    nodePath: process.execPath,
    binds: [],
    masked: [],
    memoryBytes: 512 * 1024 ** 2,
    processes: 128,
    size: { bytes: 64 * 1024 ** 2, files: 10_000 },
    graceMs: 200,
    ...changes,
  }
}

describeExecutionWorkspaces('this machine', async () => {
  const workspaces = createLocalWorkspaces(optionsFor(await mkdtemp(join(tmpdir(), 'workspaces-'))))
  const template = { namespace: 'default', name: 'default' }
  return { workspaces, namespace: 'default', template, readyMs: 10_000, close: () => workspaces.close() }
})
