// Why findings are of no concern, and for how long.
import { Field } from '../../parts/field.tsx'
import { TextArea } from '../../parts/text-area.tsx'

export type Dismissal = { reason: string; days: number }

const dayMs = 86_400_000
const spans = [
  { days: 0, title: 'For good' },
  { days: 30, title: 'For 30 days' },
  { days: 90, title: 'For 90 days' },
]

export function bodyOfDismissal({ reason, days }: Dismissal): { reason: string; until?: string } {
  return { reason, ...(days > 0 && { until: new Date(Date.now() + days * dayMs).toISOString() }) }
}

type FieldsProps = { value: Dismissal; problem?: string | undefined; onChange: (value: Dismissal) => void }

export function DismissFields({ value, problem, onChange }: FieldsProps) {
  return (
    <>
      <Field label="Reason" hint="Others see it with the finding." problem={problem} isRequired>
        {(control) => (
          <TextArea {...control} autoFocus value={value.reason} onText={(reason) => onChange({ ...value, reason })} />
        )}
      </Field>
      <Field label="How long">
        {(control) => (
          <select
            {...control}
            className="input"
            value={value.days}
            onChange={(event) => onChange({ ...value, days: Number(event.target.value) })}
          >
            {spans.map(({ days, title }) => (
              <option key={days} value={days}>
                {title}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  )
}
