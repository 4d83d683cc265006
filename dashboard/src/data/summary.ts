// Objects as lists have them: names, labels and the fields that tables show, each at its usual path.
import type { ResourceSummary } from '../../../src/contract/api/resources/list.ts'
import type { Kind, ResourceOf } from '../../../src/contract/kinds/index.ts'

/** Any object of a list; each field may be absent. */
export type Summary = ResourceSummary

type Some<T> = T extends readonly unknown[] ? T : T extends object ? { [K in keyof T]?: Some<T[K]> | undefined } : T

/** The same for one kind. */
export type SummaryOf<K extends Kind> = Omit<Summary, 'kind' | 'spec' | 'status'> & {
  kind: string
  spec?: Some<ResourceOf<K>['spec']>
  status?: Some<NonNullable<ResourceOf<K>['status']>>
}

export function namespaceOf(object: Pick<Summary, 'metadata'>): string {
  return object.metadata.namespace ?? 'default'
}
