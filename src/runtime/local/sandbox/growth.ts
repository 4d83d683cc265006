// Limits what one run writes into an existing folder: what was there before does not count.
import { boundless, measureFolder } from '../../folders/size.ts'
import { watchFolder } from '../../folders/watch.ts'

export type Growth = {
  /** Whether the run was stopped because of it. */
  wasOver(): boolean
  stop(): void
}

/** Files that one run may add. */
const mostFiles = 65_536

/** Ends the run with `end` when it has written more than `bytes`. Without a folder nothing is watched. */
export async function watchGrowth(folder: string | undefined, bytes: number, end: () => void): Promise<Growth> {
  let isOver = false
  if (folder === undefined) return { wasOver: () => false, stop: () => undefined }
  const before = (await measureFolder(folder, boundless)) ?? { bytes: 0, files: 0 }
  const onOver = () => {
    isOver = true
    end()
  }
  const most = { bytes: before.bytes + bytes, files: before.files + mostFiles }
  const watch = watchFolder({ folder, most: () => most, onOver })
  return { wasOver: () => isOver, stop: watch.stop }
}
