// Which models a caller may use: the limits of a token, a namespace and a context also apply to fallbacks.
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { Ports } from '../../ports/index.ts'
import { keepAllowed, requireAccess } from '../identity/access.ts'

type Asked = { namespace: string; name: string; model: string }

/** The access that a call of the model needs. */
function callOf({ namespace, name, model }: Asked) {
  return { verb: 'use', kind: 'Provider', namespace, name, model } as const
}

/** Throws Forbidden with the reason. */
export function requireModel(ports: Pick<Ports, 'authorizer'>, caller: Caller, asked: Asked): Promise<void> {
  return requireAccess(ports, caller, callOf(asked))
}

/** The choices that the caller may use, in order. */
export function keepModels<T>(
  ports: Pick<Ports, 'authorizer'>,
  caller: Caller,
  { of, read }: { of: readonly T[]; read: (one: T) => Asked },
): Promise<T[]> {
  return keepAllowed(ports, caller, { of, read: (one) => callOf(read(one)) })
}

/** The choices without the fallbacks that the caller may not use; Forbidden when the first one is not allowed. */
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
