// Execution workspaces of this machine, for suites.

import { systemClock } from '../../src/lib/system-clock.ts'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findControlGroups } from '../../src/runtime/local/confinement/control-groups.ts'
import {
  createLocalWorkspaces,
  type LocalWorkspaces,
  type LocalWorkspacesOptions,
} from '../../src/runtime/local/execution-workspaces/workspaces.ts'

export function openLocalWorkspaces(root: string, changes: Partial<LocalWorkspacesOptions> = {}): LocalWorkspaces {
  return createLocalWorkspaces({
    root,
    template: 'default',
    worker: ['true'],
    prefix: `svc-test-workspaces-${process.pid}`,
    bubblewrap: probeBubblewrap(),
    groups: findControlGroups(),
    gates: { open: () => Promise.reject(new Error('this suite has no gates')) },
    clock: systemClock,
    nodePath: process.execPath,
    binds: [],
    masked: [],
    memoryBytes: 512 * 1024 ** 2,
    processes: 128,
    size: { bytes: 64 * 1024 ** 2, files: 10_000 },
    graceMs: 200,
    ...changes,
  })
}
