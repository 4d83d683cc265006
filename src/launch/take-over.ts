// A service that is started in a terminal, or by the system, takes the place of the one that a command left in the background.
import type { Config } from '../config/load.ts'
import type { Logger } from '../observability/log.ts'
import { endLocalService, findLocalService } from './local-service.ts'

/** Whoever else holds the data folder keeps it: opening it says so. */
export async function takeOver({ mode, paths }: Config, log: Logger): Promise<void> {
  if (mode !== 'embedded') return
  const note = await findLocalService(paths)
  if (note?.startedBy !== 'command') return
  log.info({ pid: note.pid }, 'taking over from the service in the background; its tasks go on here')
  await endLocalService(paths, note)
}
