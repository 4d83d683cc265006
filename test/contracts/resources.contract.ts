// The behaviour of every resource store, written for a real Kubernetes API server as much as for the embedded one:
// resource versions are opaque, collection of dependants is waited for, and only valid objects are used.
import { describe } from 'vitest'
import type { OpenResources } from './resources-bench.ts'
import { describeResourceLists } from './resources-lists.contract.ts'
import { describeResourceModel } from './resources-model.contract.ts'
import { describeResourceRemoval } from './resources-removal.contract.ts'
import { describeResourceTextWatches } from './resources-text-watches.contract.ts'
import { describeResourceTexts } from './resources-texts.contract.ts'
import { describeResourceWatches } from './resources-watches.contract.ts'
import { describeResourceWrites } from './resources-writes.contract.ts'

export function describeResources(name: string, open: OpenResources): void {
  describe(`resources in ${name}`, () => {
    describeResourceWrites(open)
    describeResourceRemoval(open)
    describeResourceLists(open)
    describeResourceTexts(open)
    describeResourceTextWatches(open)
    describeResourceWatches(open)
    describeResourceModel(open)
  })
}
