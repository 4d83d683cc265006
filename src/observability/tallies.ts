// Counters and histograms for paths where each microsecond counts: the labels are named once per series, counting is
// then an addition, and the text is built when Prometheus asks. (prom-client builds a key from all labels at each
// call.)
import type { Histogram, Registry } from 'prom-client'

type Labels = Readonly<Record<string, string>>
type Sample = { labels: Record<string, string | number>; value: number; metricName?: string }

export type CounterSeries = { add(count: number): void }
export type HistogramSeries = { observe(value: number): void }

/** Created when its labels are first used; there are as many as combinations of labels. */
export type SeriesByLabels<Series> = { series(labels: Labels): Series }

type Description = { name: string; help: string }

function register(registry: Registry, { name, help }: Description, type: string, read: () => Sample[]): void {
  const get = async () => ({ name, help, type, values: read(), aggregator: 'sum' })
  // The registry needs no more of a metric than this.
  registry.registerMetric({ name, help, type, get } as unknown as Histogram)
}

export function createCounter(registry: Registry, description: Description): SeriesByLabels<CounterSeries> {
  const all: { labels: Labels; value: number }[] = []
  register(registry, description, 'counter', () => all.map(({ labels, value }) => ({ labels: { ...labels }, value })))
  return {
    series(labels) {
      const tally = { labels, value: 0 }
      all.push(tally)
      return {
        add(count) {
          tally.value += count
        },
      }
    },
  }
}

type Distribution = { labels: Labels; counts: number[]; sum: number }

function readDistribution(name: string, buckets: readonly number[], { labels, counts, sum }: Distribution): Sample[] {
  let count = 0
  const cumulative = [...buckets, '+Inf'].map((le, index) => {
    count += counts[index] ?? 0
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
  })
  return [
    ...cumulative,
    { metricName: `${name}_sum`, labels: { ...labels }, value: sum },
    { metricName: `${name}_count`, labels: { ...labels }, value: count },
  ]
}

/** `buckets`: upper bounds in ascending order. */
export function createHistogram(
  registry: Registry,
  { buckets, ...description }: Description & { buckets: readonly number[] },
): SeriesByLabels<HistogramSeries> {
  const all: Distribution[] = []
  const read = () => all.flatMap((each) => readDistribution(description.name, buckets, each))
  register(registry, description, 'histogram', read)

  function findBucket(value: number): number {
    let index = 0
    while (index < buckets.length && value > (buckets[index] ?? 0)) index += 1
    return index
  }

  return {
    series(labels) {
      const counts = Array.from({ length: buckets.length + 1 }, () => 0)
      const series: Distribution = { labels, counts, sum: 0 }
      all.push(series)
      return {
        observe(value) {
          const index = findBucket(value)
          counts[index] = (counts[index] ?? 0) + 1
          series.sum += value
        },
      }
    },
  }
}

/** Caches what was created for a key. */
export function createMemo<Value>(): (key: string, make: () => Value) => Value {
  const known = new Map<string, Value>()
  return (key, make) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const made = make()
    known.set(key, made)
    return made
  }
}
