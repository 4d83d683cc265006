// One after the other for each name: what is ended in a workspace must not be another call of the service's own.

export type Line = { join<T>(name: string, work: () => Promise<T>): Promise<T> }

export function createLine(): Line {
  const last = new Map<string, Promise<unknown>>()
  return {
    async join(name, work) {
      const before = last.get(name) ?? Promise.resolve()
      const turn = before.then(work, work)
      const settled = turn.catch(() => undefined)
      last.set(name, settled)
      try {
        return await turn
      } finally {
        if (last.get(name) === settled) last.delete(name)
      }
    },
  }
}
