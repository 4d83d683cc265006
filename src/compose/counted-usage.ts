// Counts recorded usage in the metrics too, whoever records it: proxies, chat or a worker.
import { type CountedUsage, type KnownProvider, type Metrics, otherProvider } from '../observability/metrics.ts'
import type { UsageRecord } from '../ports/budgets/usage.ts'
import type { Records } from '../ports/index.ts'
import type { ResourceKey, ResourceReader } from '../ports/resources/resources.ts'

/** A record names a provider of its own namespace by its name, any other by both. */
function keyOf({ namespace, provider }: UsageRecord): ResourceKey {
  const [first = '', second] = provider.split('/', 2)
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second }
}

type Recording = Pick<Records, 'usage' | 'ends'>

export function countedUsage(
  { usage, ends }: Recording,
  resources: ResourceReader,
  count: Metrics['countUsage'],
): Recording {
  const known = new Set<string>()

  /** A worker may report any name: only existing Providers get their own series. */
  async function labelsOf(record: UsageRecord): Promise<Pick<CountedUsage, 'namespace' | 'provider'>> {
    if (record.demo) return { namespace: '', provider: 'demo' }
    const key = keyOf(record)
    const text = `${key.namespace}/${key.name}`
    if (!known.has(text)) {
      if ((await resources.get('Provider', key)) === undefined) return otherProvider
      known.add(text)
    }
    return { namespace: key.namespace, provider: key.name }
  }

  /** Usage that cannot be counted is still recorded. */
  async function countAll(records: readonly UsageRecord[]): Promise<void> {
    try {
      for (const record of records) count({ ...record, ...(await labelsOf(record)) })
    } catch {}
  }

  return {
    usage: {
      ...usage,
      async record(records) {
        await usage.record(records)
        await countAll(records)
      },
    },
    ends: {
      async store(end) {
        await ends.store(end)
        await countAll(end.usage)
      },
    },
  }
}

/** Further ones share one name in the metrics. */
const maxListed = 500

export async function listPriced(resources: ResourceReader): Promise<KnownProvider[]> {
  const { items } = await resources.list('Provider', { limit: maxListed })
  return items.map(({ metadata: { namespace, name }, spec: { price, prices = [] } }) => {
    const currency = (price ?? prices[0])?.currency
    return currency === undefined ? { namespace, name } : { namespace, name, currency }
  })
}
