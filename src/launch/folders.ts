// The service's folders: created and tested before anything else, so that the error names a wrong one.
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { describeFileError } from '../lib/file-error.ts'
import { makeFolder } from '../lib/new-folder.ts'

/** InvalidRequest naming the setting when a folder cannot be used. */
export function prepareFolders(config: Config): void {
  const { configDir, tokenFile } = config.paths
  prepareDataFolder(config)
  prepareFolder(configDir, '--config-dir')
  if (existsSync(tokenFile)) tryAccess(tokenFile, constants.R_OK, '--config-dir')
}

/** The same for what every mode needs. */
export function prepareDataFolder(config: Config): void {
  prepareFolder(config.paths.dataDir, '--data-dir')
  if (config.readyFile !== undefined) prepareFolder(dirname(config.readyFile), '--ready-file')
}

function prepareFolder(folder: string, flag: string): void {
  try {
    makeFolder(folder, 0o700)
  } catch (error) {
    throw refuse(folder, flag, error)
  }
  tryAccess(folder, constants.W_OK | constants.X_OK, flag)
}

function tryAccess(path: string, mode: number, flag: string): void {
  try {
    accessSync(path, mode)
  } catch (error) {
    throw refuse(path, flag, error)
  }
}

function refuse(path: string, flag: string, error: unknown): SvcError {
  const message = `${path} cannot be used: ${describeFileError(error)}. Choose another one with ${flag}.`
  return new SvcError('InvalidRequest', message, { cause: error })
}
