// Files that a program left in a folder of which it could make whatever it liked (TASK-059, TASK-060).

/** Why a file is not kept, or what to read it with; `open` reads from its start, and works until the next file is asked for. */
export type LeftFile = { name: string } & (
  | { skipped: string; isEmpty?: true }
  | { size: number; open(): AsyncIterable<Uint8Array> }
)

/**
 * The files directly in the folder `path` below `root`, by name; none when it is not there, or no folder. Follows no link,
 * wherever one stands or is put meanwhile. Only regular files with a fit name are kept, of at most 10 MiB each and 50 MiB
 * together; at most 1000 entries are looked at.
 */
export type ReadLeftFiles = (root: string, path: string) => AsyncIterable<LeftFile>

/**
 * The files in all folders below `root`, by path with `/`; at most 10,000 entries are looked at, no link is followed. Folders
 * that tools make again by themselves (`isPassedOver`) and whatever is no file of at most 10 MiB come with the reason.
 */
export type ReadWorkspaceFiles = (root: string) => AsyncIterable<LeftFile>
