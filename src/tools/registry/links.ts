// What the tools of one run keep open between its calls.

type Closable = { close(): Promise<void> }

export type Links = {
  /** The one for this key, made with the first call. A key is always used for the same type. */
  get<T extends Closable>(key: object, make: () => T): T
  /** Closes all. Never rejects. */
  close(): Promise<void>
}

export function createLinks(): Links {
  const open = new Map<object, Closable>()
  return {
    get<T extends Closable>(key: object, make: () => T): T {
      const link = (open.get(key) as T | undefined) ?? make()
      open.set(key, link)
      return link
    },
    async close() {
      const all = [...open.values()]
      open.clear()
      await Promise.allSettled(all.map((link) => link.close()))
    },
  }
}
