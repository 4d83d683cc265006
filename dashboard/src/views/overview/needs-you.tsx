// What waits for a person: questions of tasks with their answers, and a line for everything else, each a link.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { listBudgets } from '../../../../src/contract/api/budgets/budgets.ts'
import type { Overview, ProviderState } from '../../../../src/contract/api/service/overview.ts'
import { useObjects } from '../../data/lists.ts'
import { namespaceOf } from '../../data/summary.ts'
import { useSum } from '../../data/sums.ts'
import { shareSpent } from '../../parts/budget-share.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { useScope, useScopedPath } from '../../parts/scope.ts'
import { useMay } from '../../session/caller.ts'
import { formatShare } from './overview-words.ts'
import { WaitingApprovals } from './waiting-approvals.tsx'

type Need = { key: string; tone: 'bad' | 'warn'; to: string; text: ReactNode; more?: ReactNode }

/** From here on a budget needs somebody. */
const nearlySpent = 0.8

function useBudgets(): Need[] {
  const may = useMay(listBudgets)
  const { data } = useSum(['Budget', 'Usage'], listBudgets, {}, may)
  return (data?.items ?? [])
    .map((budget) => ({ name: budget.name, share: shareSpent(budget) }))
    .filter(({ share }) => share >= nearlySpent)
    .map(({ name, share }) => ({
      key: `budget ${name}`,
      tone: share >= 1 ? 'bad' : 'warn',
      to: `/budgets/${encodeURIComponent(name)}`,
      text: (
        <>
          Budget <Foreign text={name} /> {share >= 1 ? 'is used up' : 'is nearly used up'}
        </>
      ),
      more: formatShare(share),
    }))
}

function useCriticals(): Need[] {
  const scans = useObjects('RepositoryScan', useScope().query)
  return scans.items.flatMap((scan) => {
    const count = scan.status?.findingCounts?.critical ?? 0
    const { name } = scan.metadata
    if (count === 0) return []
    return {
      key: `scan ${scan.metadata.uid}`,
      tone: 'bad' as const,
      to: `/scans/${namespaceOf(scan)}/${name}?severity=critical`,
      text: (
        <>
          {count === 1 ? '1 critical finding' : `${count} critical findings`} in <Foreign text={name} />
        </>
      ),
    }
  })
}

const troubles: Partial<Record<ProviderState['state'], string>> = {
  failing: 'is failing',
  notReady: 'is not ready',
  coolingDown: 'is cooling down',
}

function listProviders({ providers = [] }: Overview): Need[] {
  return providers.flatMap(({ name, namespace, state, message }) => {
    const trouble = troubles[state]
    if (trouble === undefined) return []
    return {
      key: `provider ${namespace}/${name}`,
      tone: state === 'coolingDown' ? ('warn' as const) : ('bad' as const),
      to: `/providers/${namespace}/${name}`,
      text: (
        <>
          Provider <Foreign text={name} /> {trouble}
        </>
      ),
      more: <Foreign text={message} most={160} />,
    }
  })
}

export function NeedsYou({ of }: { of: Overview }) {
  const scoped = useScopedPath()
  const budgets = useBudgets()
  const criticals = useCriticals()
  const { proposals = 0, approvals } = of
  const memories: Need = {
    key: 'proposals',
    tone: 'warn',
    to: scoped('/proposals'),
    text: proposals === 1 ? '1 proposal of a memory' : `${proposals} proposals of memories`,
  }
  const needs = [...criticals, ...listProviders(of), ...budgets, ...(proposals > 0 ? [memories] : [])]
  return (
    <>
      {approvals > 0 && <WaitingApprovals />}
      <section className="card needs" aria-labelledby="needs-you">
        <h2 id="needs-you">
          Needs you <span className="soft number">{needs.length + approvals || ''}</span>
        </h2>
        {needs.length + approvals === 0 && <p className="soft">Nothing waits for you.</p>}
        <ul>
          {needs.map(({ key, tone, to, text, more }) => (
            <li key={key}>
              <Link to={to} className="plain-link need">
                <span className="need-dot" data-tone={tone} />
                <span>{text}</span>
                <span className="soft number">{more}</span>
              </Link>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}
