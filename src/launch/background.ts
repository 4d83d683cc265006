// Starts a separate service in the background and waits until it is serving.
import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readEnvironment } from '../config/environment.ts'
import type { Config } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { prepareFolders } from './folders.ts'
import { launcherPath } from './program-files.ts'
import { readServiceNote, type ServiceNote, startedByVariable } from './service-file.ts'

const startTimeoutMs = 30_000
const usualIdleExit = '15m'

/** Keeps glibc from holding on to large buffers that were freed: 230 MB resident instead of 310 after 10,000 tasks. */
const allocator = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_TRIM_THRESHOLD_: '131072' }

export type BackgroundService = ServiceNote & { logFile: string; idleExit: string; wantedPort: number }

/** Unavailable, with the end of its log, when the service does not come up. */
export async function startInBackground(config: Config, configFile: string | undefined): Promise<BackgroundService> {
  const { dataDir, configDir } = config.paths
  prepareFolders(config)
  const idleExit = config.idleExit ?? usualIdleExit
  const logFile = join(dataDir, 'service.log')
  const scratch = mkdtempSync(join(tmpdir(), 'svc-start-'))
  const readyFile = join(scratch, 'ready.json')
  const folders = ['--data-dir', dataDir, '--config-dir', configDir]
  const more = configFile === undefined ? [] : ['--config', configFile]
  const args = ['up', '--idle-exit', idleExit, '--ready-file', readyFile, ...folders, ...more]
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(process.execPath, [...process.execArgv, launcherPath, ...args], {
    detached: true,
    stdio: ['ignore', log, log],
    env: { ...allocator, ...readEnvironment(), [startedByVariable]: 'command' },
  })
  closeSync(log)
  child.unref()
  try {
    const ready = await waitForFile(readyFile, () => child.exitCode !== null || child.signalCode !== null)
    if (ready) return { ...ready, pid: child.pid ?? 0, logFile, idleExit, wantedPort: config.port }
    child.kill('SIGKILL')
    throw new SvcError('Unavailable', `the service did not start; the end of ${logFile}:\n${readTail(logFile)}`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function waitForFile(path: string, hasEnded: () => boolean): Promise<{ url: string; token: string } | undefined> {
  const deadline = Date.now() + startTimeoutMs
  while (Date.now() < deadline) {
    const ready = readServiceNote(path)
    if (ready) return ready
    if (hasEnded()) return undefined
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return undefined
}

function readTail(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-5).join('\n')
}
