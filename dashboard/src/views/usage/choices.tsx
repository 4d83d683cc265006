// What the page of costs is asked for: all of it stands in the address.
import { usageGroups } from '../../../../src/contract/api/budgets/usage.ts'
import { useParameters } from '../../parts/scope.ts'
import { periods, type Range, rangeOf, readDay, type Sort, sorts } from './usage-words.ts'

export type Grouping = (typeof usageGroups)[number]

const groups = usageGroups.filter((group) => group !== 'hour' && group !== 'month')

export type Choice = {
  by: Grouping
  /** Key of the label that is summed by. */
  label: string
  sort: Sort
  period: string
  /** Undefined: the days that were written are none. */
  range: Range | undefined
}

export function useChoice(): Choice & {
  change: (changes: Record<string, string | undefined>) => void
  custom: Custom
} {
  const [parameters, change] = useParameters()
  const by = groups.find((group) => group === parameters.get('by')) ?? 'agent'
  const period = periods.find(({ name }) => name === parameters.get('period'))?.name ?? 'month'
  const sort = sorts.find((name) => name === parameters.get('sort')) ?? 'cost'
  const custom = { from: parameters.get('from') ?? '', to: parameters.get('to') ?? '' }
  const label = parameters.get('label') ?? ''
  return { by, label, sort, period, range: rangeOf(period, custom), change, custom }
}

type Custom = { from: string; to: string }

type SelectProps = {
  label: string
  value: string
  options: readonly { name: string; title: string }[]
  onChange: (value: string) => void
}

function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <label className="row">
      <span className="soft">{label}</span>
      <select className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(({ name, title }) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}

const asOptions = (names: readonly string[]) => names.map((name) => ({ name, title: name }))

export function Choices() {
  const { by, label, sort, period, change, custom } = useChoice()
  const text = (name: 'from' | 'to' | 'label', title: string, value: string, placeholder: string) => (
    <label className="row">
      <span className="soft">{title}</span>
      <input
        className="input"
        size={11}
        autoComplete="off"
        spellCheck={false}
        placeholder={placeholder}
        aria-invalid={name !== 'label' && value !== '' && readDay(value) === undefined ? true : undefined}
        defaultValue={value}
        onChange={(event) => change({ [name]: event.target.value.trim() })}
      />
    </label>
  )
  return (
    <>
      <Select label="By" value={by} options={asOptions(groups)} onChange={(value) => change({ by: value })} />
      {by === 'label' && text('label', 'Key', label, 'team')}
      <Select label="Of" value={period} options={periods} onChange={(value) => change({ period: value })} />
      {period === 'custom' && (
        <>
          {text('from', 'From', custom.from, '2026-01-31')}
          {text('to', 'To', custom.to, '2026-02-28')}
        </>
      )}
      <Select label="Order" value={sort} options={asOptions(sorts)} onChange={(value) => change({ sort: value })} />
    </>
  )
}
