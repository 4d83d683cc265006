// Which entries of the audit are shown. Dates are written the same everywhere: year, month, day.
import { useEffect, useId, useState } from 'react'
import { kindNames } from '../../../../src/contract/kinds/index.ts'
import { Choice } from '../../parts/choice.tsx'
import { FilterChips } from '../../parts/filter-chips.tsx'
import { useParameters } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'

const verbs = ['create', 'update', 'delete', 'get', 'list', 'use', 'operate']
const kinds = [
  ...kindNames,
  'Secret',
  'ConfigMap',
  'Session',
  'Memory',
  'Usage',
  'Budget',
  'Token',
  'Audit',
  'Metrics',
].sort()
const names = {
  caller: 'Caller',
  verb: 'Verb',
  kind: 'Kind',
  outcome: 'Outcome',
  since: 'From',
  until: 'Until',
}

export function AuditFilters() {
  return (
    <search className="stack">
      <div className="row">
        <SearchBox label="Id of the caller" name="caller" placeholder="Id of the caller" />
        <Choice name="verb" label="Verb" values={verbs} />
        <Choice name="kind" label="Kind" values={kinds} />
        <Choice name="outcome" label="Outcome" values={['allowed', 'refused']} />
        <Moment name="since" label="From" />
        <Moment name="until" label="Until" />
      </div>
      <FilterChips names={names} />
    </search>
  )
}

const moment = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}))?$/

/** As the address has it; undefined where it is no moment. */
function readMoment(text: string): string | undefined {
  const [, day = '', time = '00:00'] = moment.exec(text.trim()) ?? []
  const wanted = `${day}T${time}`
  return Number.isNaN(Date.parse(wanted)) ? undefined : wanted
}

function Moment({ name, label }: { name: string; label: string }) {
  const [parameters, change] = useParameters()
  const inAddress = parameters.get(name) ?? ''
  const [text, setText] = useState(inAddress.replace('T', ' '))
  const id = useId()
  useEffect(() => setText(inAddress.replace('T', ' ')), [inAddress])
  const isWrong = text.trim() !== '' && readMoment(text) === undefined
  function take(): void {
    if (!isWrong) change({ [name]: readMoment(text) })
  }
  return (
    <span className="row moment">
      <label htmlFor={id} className="soft">
        {label}
      </label>
      <input
        id={id}
        className="input number"
        placeholder="2026-01-31 18:00"
        autoComplete="off"
        spellCheck={false}
        aria-invalid={isWrong}
        title="Year, month, day, and the time if that matters"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={take}
        onKeyDown={(event) => event.key === 'Enter' && take()}
      />
    </span>
  )
}
