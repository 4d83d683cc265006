// Labels and annotations of the service's own domain: what GET gave can be sent back, but only the service sets, changes or
// removes one.
import { reservedPrefix } from '../../contract/resources/metadata.ts'
import { refuse } from '../../contract/validation.ts'
import type { Problem } from '../../errors.ts'

type Keys = Readonly<Record<string, string>> | undefined
type Marked = { labels?: Keys; annotations?: Keys }

const parts = ['labels', 'annotations'] as const

function findForged(part: (typeof parts)[number], given: Marked, stored: Marked | undefined): Problem[] {
  return Object.entries(given[part] ?? {})
    .filter(([key, value]) => key.startsWith(reservedPrefix) && stored?.[part]?.[key] !== value)
    .map(([key]) => ({
      path: `metadata.${part}[${JSON.stringify(key)}]`,
      message: 'is reserved for the service; remove it',
    }))
}

/** InvalidRequest for reserved labels and annotations that are not already there. `what` is made or changed. */
export function requireOwnKeys(what: string, given: Marked, stored?: Marked): void {
  refuse(
    what,
    parts.flatMap((part) => findForged(part, given, stored)),
  )
}

/** The reserved ones, which stay through a replacement whatever is given. */
export function pickReserved(keys: Keys): Record<string, string> {
  return Object.fromEntries(Object.entries(keys ?? {}).filter(([key]) => key.startsWith(reservedPrefix)))
}
