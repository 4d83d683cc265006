// What an operator is given to watch the service names metrics that it has.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { removeFolder, root, type Service, startService } from './service.ts'

const folder = join(root, 'deploy', 'helm', 'svc', 'files', 'monitoring')
const read = (file: string) => readFileSync(join(folder, file), 'utf8')

type Rule = { alert: string; expr: string; annotations: { summary: string; description: string } }
const rules = (parse(read('alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
type Panel = { title: string; targets: { expr: string }[] }
const { panels } = JSON.parse(read('dashboard.json')) as { panels: Panel[] }
const expressions = [
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [`panel ${title}`, expr] as const)),
]

let service: Service
let scrape: string
beforeAll(async () => {
  service = await startService()
  const spec = { type: 'llma', baseURL: 'https://vendor.example', price: { inputPerMillion: 1 } }
  await service.call('POST', '/api/v1/providers', { name: 'priced', spec })
  scrape = (await service.call<string>('GET', '/metrics')).body
})
afterAll(async () => {
  await service.stop()
  removeFolder(service.folder)
})

/** Every number of a metric, at whatever labels. */
function numbersOf(name: string): number[] {
  return [...scrape.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].map(([, value]) => Number(value))
}

/** The names of labels that are asked for, and the values that are spelt out. */
function labelsOf(expr: string): string[] {
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(','))
  const matched = [...expr.matchAll(/[{,]\s*(\w+)=~?"/g)].map(([, name = '']) => name)
  return [...grouped, ...matched].map((name) => name.trim())
}

describe('dashboards and alert rules', () => {
  it('are there', () => {
    expect([rules.length > 5, panels.length > 10]).toEqual([true, true])
  })

  it.each(expressions)('%s names metrics that have a number at the first scrape', (_title, expr) => {
    const names = [...new Set(expr.match(/\b(?:svc|process)_\w+/g) ?? [])]
    expect(names).not.toEqual([])
    for (const name of names) {
      const numbers = numbersOf(name)
      expect([name, numbers.length > 0, numbers.every(Number.isFinite)]).toEqual([name, true, true])
    }
  })

  it('name labels that the metrics have', async () => {
    const known = new Set([...scrape.matchAll(/[{,](\w+)="/g)].map(([, name]) => name))
    // Of what only counts when proxies and a cluster are used, and what Prometheus adds.
    const others = ['outcome', 'verb', 'job', 'le']
    for (const [title, expr] of expressions) {
      for (const label of labelsOf(expr))
        expect([title, label, known.has(label) || others.includes(label)]).toEqual([title, label, true])
    }
  })

  it('say what is wrong and what to do', () => {
    for (const { annotations } of rules) expect(Object.keys(annotations).sort()).toEqual(['description', 'summary'])
  })

  const promtool = [...(process.env.PATH ?? '').split(':'), join(homedir(), '.cache', 'svc-tools')]
    .map((place) => join(place, 'promtool'))
    .find((file) => existsSync(file))
  it.skipIf(promtool === undefined)('are rules, and the scrape is one, to Prometheus itself', () => {
    const checked = spawnSync(promtool ?? '', ['check', 'rules', join(folder, 'alerts.yaml')], { encoding: 'utf8' })
    expect([checked.status, checked.stderr]).toEqual([0, ''])
    const scraped = spawnSync(promtool ?? '', ['check', 'metrics'], { encoding: 'utf8', input: scrape })
    // It has opinions on names that the language's own library chose; a fault of the text is told on a line of its own.
    expect(scraped.stderr).not.toMatch(/error while linting|parsing/)
  })
})
