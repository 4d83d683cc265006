// How a client waits for a service that starts again.
import { isSvcError } from '../errors.ts'

export const reconnectDelayMs = 500
/** Half a minute: as long as a service may take to start again. */
export const maxReconnects = 60

/** Reads again while the service cannot be reached. */
export async function readPersistently<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read()
    } catch (error) {
      if (!isSvcError(error, 'Unavailable') || tries >= maxReconnects) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectDelayMs))
  }
}
