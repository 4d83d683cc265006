// Which objects are named in the spec of another.
export type Key = { namespace: string; name: string }

/** Whether a value names the object under one of the fields; `home`: the namespace that is meant where none is written. */
export function names(value: unknown, field: RegExp, wanted: Key & { home: string }): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, inner]) => {
    const entries: unknown[] = Array.isArray(inner) ? inner : [inner]
    if (field.test(name) && entries.some((entry) => isReference(entry, wanted))) return true
    return entries.some((entry) => names(entry, field, wanted))
  })
}

function isReference(entry: unknown, { name, namespace, home }: Key & { home: string }): boolean {
  if (typeof entry !== 'object' || entry === null) return false
  const reference = entry as Partial<Key>
  return reference.name === name && (reference.namespace ?? home) === namespace
}
