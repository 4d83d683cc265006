// What the browser keeps for this page. Where it keeps nothing, because that is forbidden or its space is full, the tab does while it is open.
const here = new Map<string, string>()

export const browserStore = {
  get(key: string): string | undefined {
    try {
      return here.get(key) ?? localStorage.getItem(key) ?? undefined
    } catch {
      return undefined
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(key, value)
      here.delete(key)
    } catch {
      here.set(key, value)
    }
  },
  remove(key: string): void {
    here.delete(key)
    try {
      localStorage.removeItem(key)
    } catch {
      // It has kept nothing.
    }
  },
}
