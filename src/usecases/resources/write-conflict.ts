// Read, change, and write again when another writer was in between.
import { isSvcError } from '../../errors.ts'

const attempts = 5

/** Runs `write`, which reads again each time, until there is no conflict; the last conflict is thrown. */
export async function repeatOnConflict<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (!isSvcError(error, 'Conflict') || attempt === attempts) throw error
    }
  }
}
