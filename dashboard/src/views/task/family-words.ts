// What a family of tasks has used together, and how its tree is walked by keys.
import { formatMoney } from '../../../../src/client/money.ts'
import { formatCount } from '../../parts/usage-facts.tsx'
import type { FamilyPlace, FamilyTask } from './use-family.ts'

export function costOf({ status }: FamilyTask): string | undefined {
  const { cost, currency } = status?.usage ?? {}
  return cost === undefined ? undefined : formatMoney(cost, currency)
}

export function tokensOf({ status }: FamilyTask): number {
  return (status?.usage?.inputTokens ?? 0) + (status?.usage?.outputTokens ?? 0)
}

/** `5 tasks: 3 succeeded, 2 running; 1,200 tokens; 0.02 USD`. */
export function describeFamily(places: readonly FamilyPlace[]): string {
  const phases = new Map<string, number>()
  const costs = new Map<string, number>()
  let tokens = 0
  for (const { task } of places) {
    const phase = (task.status?.phase ?? 'Pending').toLowerCase()
    phases.set(phase, (phases.get(phase) ?? 0) + 1)
    tokens += tokensOf(task)
    const { cost, currency = '' } = task.status?.usage ?? {}
    if (cost !== undefined) costs.set(currency, (costs.get(currency) ?? 0) + cost)
  }
  const states = [...phases].map(([phase, count]) => `${count} ${phase}`).join(', ')
  const money = [...costs].map(([currency, cost]) => formatMoney(cost, currency))
  const count = places.length === 1 ? '1 task' : `${places.length} tasks`
  return [`${count}: ${states}`, `${formatCount(tokens)} tokens`, ...money].join('; ')
}

/** Those that no closed one hides. */
export function listShown(places: readonly FamilyPlace[], closed: ReadonlySet<string>): FamilyPlace[] {
  let hiddenBelow = Number.POSITIVE_INFINITY
  return places.filter(({ task, level }) => {
    if (level > hiddenBelow) return false
    hiddenBelow = closed.has(task.metadata.uid) ? level : Number.POSITIVE_INFINITY
    return true
  })
}

export type TreeStep = { to: number } | { open: string } | { close: string }

/** What a key does in a tree (WAI-ARIA); undefined: nothing. */
export function stepInTree(
  key: string,
  at: number,
  shown: readonly FamilyPlace[],
  closed: ReadonlySet<string>,
): TreeStep | undefined {
  const here = shown[at]
  if (here === undefined) return undefined
  const { uid } = here.task.metadata
  const hasShownChild = (shown[at + 1]?.level ?? 0) > here.level
  const parent = shown.findLastIndex(({ level }, index) => index < at && level < here.level)
  const clamp = (index: number) => ({ to: Math.max(0, Math.min(shown.length - 1, index)) })
  const steps: Record<string, TreeStep | undefined> = {
    ArrowDown: clamp(at + 1),
    ArrowUp: clamp(at - 1),
    Home: { to: 0 },
    End: clamp(shown.length),
    ArrowRight: closed.has(uid) ? { open: uid } : hasShownChild ? { to: at + 1 } : undefined,
    ArrowLeft: hasShownChild ? { close: uid } : parent >= 0 ? { to: parent } : undefined,
  }
  return steps[key]
}
