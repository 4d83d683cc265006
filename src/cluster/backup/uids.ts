// The API server gives every object that it makes a uid of its own: what refers to an object by its former uid is rewritten.

/** New uids by former ones. */
export type UidMap = ReadonlyMap<string, string>

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/**
 * The text with each former uid replaced, wherever it stands. A uid is there once in the world, so that whatever has it
 * means that object; both have the same length, so that positions in a text stay.
 */
export function mapUids(text: string, uids: UidMap): string {
  return text.replaceAll(uuid, (uid) => uids.get(uid) ?? uid)
}
