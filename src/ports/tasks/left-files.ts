// Files that a program left in a folder whose content it controlled entirely (TASK-059, TASK-060).

/**
 * Why a file is not kept, or how to read it; `open` reads from its start, and works until the next file is requested.
 */
export type LeftFile = { name: string } & (
  | { skipped: string; isEmpty?: true }
  | { size: number; open(): AsyncIterable<Uint8Array> }
)

/**
 * The files directly in the folder `path` below `root`, by name; none when it does not exist or is not a folder. Never
 * follows links, even if one appears while it reads. Keeps only regular files with a valid name, of at most 10 MiB each
 * and 50 MiB in total; looks at no more than 1000 entries.
 */
export type ReadLeftFiles = (root: string, path: string) => AsyncIterable<LeftFile>

/**
 * The files in all folders below `root`, by path with `/`; looks at no more than 10,000 entries and follows no links.
 * Folders that tools can recreate (`isPassedOver`), and entries that are not files of at most 10 MiB, come with the
 * reason.
 */
export type ReadWorkspaceFiles = (root: string) => AsyncIterable<LeftFile>
