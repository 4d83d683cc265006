// What an admission policy of the cluster reads of the tasks: texts by name, in one object.

/** Entries, and the version that they were read in. */
export type EntriesRead = { version: string; entries: Record<string, string> }

/** The object of the service that an admission policy of the cluster reads. */
export interface PolicyEntries {
  /** Makes it where there is none. Undefined where the cluster does not know its kind, so that no policy can read it. */
  read(): Promise<EntriesRead | undefined>
  /** Replaces the entries that were read. Conflict when they are not the newest, Forbidden without the right, TooLarge. */
  replace(found: EntriesRead, entries: Record<string, string>): Promise<void>
}
