import { Counter, Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { createCounter, createHistogram, createMemo } from './tallies.ts'

const buckets = [0.1, 1, 10]
const values = [0.05, 0.1, 0.11, 1, 5, 10, 11, 0]

/** The same measures as prom-client itself counts and writes them. */
function writeByLibrary(): Promise<string> {
  const registers = [new Registry()]
  const labelNames = ['kind', 'from'] as const
  const counter = new Counter({ name: 'c_total', help: 'Counted.', labelNames, registers })
  const histogram = new Histogram({ name: 'h_seconds', help: 'Measured.', labelNames, buckets, registers })
  counter.inc({ kind: 'a"b', from: 'x' }, 2)
  counter.inc({ kind: 'c', from: 'y' }, 3)
  for (const value of values) histogram.observe({ kind: 'a', from: 'x' }, value)
  return (registers[0] as Registry).metrics()
}

describe('counters and histograms', () => {
  it('are printed exactly as prom-client prints its own [HTTP-042]', async () => {
    const registry = new Registry()
    const counter = createCounter(registry, { name: 'c_total', help: 'Counted.' })
    const histogram = createHistogram(registry, { name: 'h_seconds', help: 'Measured.', buckets })
    counter.series({ kind: 'a"b', from: 'x' }).add(2)
    const series = counter.series({ kind: 'c', from: 'y' })
    series.add(1)
    series.add(2)
    const spread = histogram.series({ kind: 'a', from: 'x' })
    for (const value of values) spread.observe(value)
    const lines = (text: string) => text.split('\n').toSorted()
    expect(lines(await registry.metrics())).toEqual(lines(await writeByLibrary()))
  })

  it('create the series of a key once', () => {
    const memo = createMemo<object>()
    expect(memo('a', () => ({}))).toBe(memo('a', () => ({})))
    expect(memo('b', () => ({ other: true }))).toEqual({ other: true })
  })
})
