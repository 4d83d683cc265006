// Which models a caller may have answer: the limits of a token, a namespace and a context hold for fallbacks too.
import type { ModelChoice } from '../../contract/api/assignment.ts'
import type { Caller } from '../../ports/identity.ts'
import type { Ports } from '../../ports/index.ts'
import { keepAllowed, requireAccess } from '../access.ts'

type Asked = { namespace: string; name: string; model: string }

/** The access that a call of the model is. */
function callOf({ namespace, name, model }: Asked) {
  return { verb: 'use', kind: 'Provider', namespace, name, model } as const
}

/** Forbidden in words. */
export function requireModel(ports: Pick<Ports, 'authorizer'>, caller: Caller, asked: Asked): Promise<void> {
  return requireAccess(ports, caller, callOf(asked))
}

/** Those that the caller may have answer, in their order. */
export function keepModels<T>(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  { of, read }: { of: readonly T[]; read: (one: T) => Asked },
): Promise<T[]> {
  return keepAllowed(ports, caller, { of, read: (one) => callOf(read(one)) })
}

/** The choices without fallbacks that the caller may not use; Forbidden when the first is one of those. */
export async function keepChoices(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  choices: readonly [ModelChoice, ...ModelChoice[]],
): Promise<[ModelChoice, ...ModelChoice[]]> {
  const [first, ...others] = choices
  const read = ({ provider, model }: ModelChoice) => ({ namespace: provider.namespace, name: provider.name, model })
  await requireModel(ports, caller, read(first))
  return [first, ...(await keepModels(ports, caller, { of: others, read }))]
}
