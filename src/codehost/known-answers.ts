// What was answered before, with the tag that lets a code host say that nothing has changed: an unchanged list then costs no quota
// (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api, conditional requests).

/** `value`: what was made of the body, which is far smaller. */
export type KnownAnswer<V> = { etag: string; value: V; next: boolean }

export type KnownAnswers = {
  find<V>(name: string): KnownAnswer<V> | undefined
  keep<V>(name: string, answer: KnownAnswer<V>): void
}

/** Forgets what was asked for longest ago, beyond `mostBytes` of text. */
export function createKnownAnswers(mostBytes = 64 * 1024 * 1024): KnownAnswers {
  const entries = new Map<string, { answer: KnownAnswer<unknown>; bytes: number }>()
  let held = 0

  function remove(name: string): void {
    held -= entries.get(name)?.bytes ?? 0
    entries.delete(name)
  }

  return {
    find<V>(name: string) {
      const entry = entries.get(name)
      if (entry === undefined) return undefined
      entries.delete(name)
      entries.set(name, entry)
      return entry.answer as KnownAnswer<V>
    },
    keep(name, answer) {
      remove(name)
      const bytes = 200 + 2 * (JSON.stringify(answer.value) ?? '').length
      if (bytes > mostBytes / 4) return
      entries.set(name, { answer, bytes })
      held += bytes
      for (const oldest of entries.keys()) {
        if (held <= mostBytes) return
        remove(oldest)
      }
    },
  }
}
