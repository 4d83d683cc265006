// The built-in tools as GET /tools shows them; checked on each request, because a sandbox can be installed at any time.
import { builtinTools, describeBuiltinTools } from '../../tools/registry/registry.ts'
import type { BuiltinTools } from '../service/deps.ts'

type Availability = Parameters<typeof describeBuiltinTools>[0]

export function createBuiltinTools(availability: Availability, options: { hideUnavailable: boolean }): BuiltinTools {
  return {
    list: () => describeBuiltinTools(availability, options),
    names: builtinTools.map((tool) => tool.name),
  }
}
