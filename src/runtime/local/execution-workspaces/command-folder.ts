// What all commands in the folder of one workspace share: the limits of the workspace as a whole, and one watch over its size.
import type { WorkspaceSize } from '../../folders/size.ts'
import { type FolderWatch, watchFolder } from '../../folders/size.ts'
import type { ControlGroup } from '../confinement/control-group.ts'
import type { ControlGroups } from '../confinement/control-groups.ts'

export type CommandFolderOptions = {
  groups: Pick<ControlGroups, 'create'>
  /** Of all that runs in the workspace. */
  memoryBytes: number
  processes: number
  /** Of the whole folder. */
  size: WorkspaceSize
}

export type CommandFolder = {
  folder: string
  /** For one command, below the limits of all. Undefined where there are no control groups. */
  createGroup(): Promise<ControlGroup | undefined>
  /** Tells when the folder holds too much, until the returned function is called. */
  watch(onOver: () => void): () => void
  /** Ends what is left in its control groups. */
  close(): Promise<void>
}

/** `name` is that of the control group of the workspace. */
export function openCommandFolder(options: CommandFolderOptions, folder: string, name: string): CommandFolder {
  const { groups, memoryBytes, processes, size } = options
  let whole: Promise<ControlGroup | undefined> | undefined
  let count = 0
  const watching = new Set<() => void>()
  let watch: FolderWatch | undefined

  async function createWhole(): Promise<ControlGroup | undefined> {
    const group = await groups.create(name)
    await group?.setLimits({ memoryBytes, processes })
    return group
  }

  function stopWatch(): void {
    watch?.stop()
    watch = undefined
  }

  function notifyAll(): void {
    stopWatch()
    for (const notify of watching) notify()
  }

  return {
    folder,
    async createGroup() {
      whole ??= createWhole()
      count += 1
      return (await whole)?.createNested(String(count))
    },
    watch(onOver) {
      const notify = () => onOver()
      watching.add(notify)
      watch ??= watchFolder({ folder, max: () => size, onOver: notifyAll })
      return () => {
        watching.delete(notify)
        if (watching.size === 0) stopWatch()
      }
    },
    async close() {
      await (await whole)?.remove()
      whole = undefined
    },
  }
}
