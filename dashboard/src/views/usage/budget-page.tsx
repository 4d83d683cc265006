// One budget, or a new one: what is spent of it, and the form that makes and changes it.
import { type FormEvent, useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import {
  type BudgetItem,
  budgetPeriods,
  deleteBudget,
  getBudget,
  putBudget,
} from '../../../../src/contract/api/budgets/budgets.ts'
import { useChange, useRecord } from '../../data/records.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { Permitted } from '../../parts/permitted.tsx'
import { problemOf } from '../../parts/problems.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { say } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'
import { BudgetBadge, BudgetMeters } from './budget-meter.tsx'
import { type BudgetForm, formOf, specOf } from './budget-words.ts'

export default function BudgetPage() {
  const { name } = useParams()
  if (name === undefined) {
    return (
      <Page title="New budget">
        <Permitted to={putBudget} what="create budgets">
          <BudgetEditor budget={undefined} />
        </Permitted>
      </Page>
    )
  }
  return <Stored key={name} name={name} />
}

function Stored({ name }: { name: string }) {
  const found = useRecord('Budget', getBudget, { params: { name } })
  const budget = found.data
  return (
    <Page
      title={name}
      heading={
        <>
          <Foreign text={name} /> {budget && <BudgetBadge budget={budget} />}
        </>
      }
      actions={budget && <Removal name={name} />}
    >
      {found.error !== null && <Failure error={found.error} retry={() => void found.refetch()} />}
      {found.isLoading && <Loading what="the budget" />}
      {budget !== undefined && (
        <>
          <section className="card stack" aria-labelledby="spent">
            <h2 id="spent">Spent{budget.spec.period === 'total' ? '' : ` this ${budget.spec.period}`}</h2>
            <BudgetMeters budget={budget} />
            {budget.spent.unpricedCalls > 0 && (
              <p className="soft">{budget.spent.unpricedCalls} calls have no price, and count for no money.</p>
            )}
          </section>
          <BudgetEditor budget={budget} />
        </>
      )}
    </Page>
  )
}

function Removal({ name }: { name: string }) {
  const navigate = useNavigate()
  return (
    <AskedChange
      to={deleteBudget}
      input={{ params: { name } }}
      word="Delete"
      look="danger"
      title={`Delete the budget ${name}?`}
      action="Delete the budget"
      onDone={() => void navigate('/budgets')}
    >
      <p>What it bounds is no longer bounded by it. What was used stays in the usage.</p>
    </AskedChange>
  )
}

type FieldWords = readonly [name: keyof BudgetForm, label: string, hint: string]

const scopeFields: readonly FieldWords[] = [
  ['namespace', 'Namespace', 'Only what is used there counts. All four empty: the whole service.'],
  ['agent', 'Agent', 'Only its tasks and chats count; it needs the namespace.'],
  ['token', 'Token', 'Id of a token: what it and its tasks use counts.'],
  ['caller', 'Caller', 'Id of a caller, as usage shows it.'],
]
const limitFields: readonly FieldWords[] = [
  ['maxTokens', 'Tokens', 'In and out, at most. One of the four limits is required.'],
  ['maxCost', 'Money', 'By the prices of the providers, at most.'],
  ['currency', 'Currency', 'Of the money: three letters.'],
  ['maxTaskDuration', 'Time of each task', 'Such as 24h.'],
  ['maxTaskIterations', 'Iterations of each task', 'Of autonomous agents.'],
]

function BudgetEditor({ budget }: { budget: BudgetItem | undefined }) {
  const navigate = useNavigate()
  const [form, setForm] = useState(() => formOf(budget))
  const save = useChange(putBudget, 'Budget')
  const isNew = budget === undefined

  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    const onSuccess = () => {
      say(`The budget ${form.name} is saved`)
      if (isNew) void navigate(`/budgets/${encodeURIComponent(form.name)}`)
    }
    save.mutate({ params: { name: form.name }, body: specOf(form) }, { onSuccess })
  }

  const text = ([name, label, hint]: FieldWords, path: string) => (
    <TextField
      key={name}
      label={label}
      hint={hint}
      problem={problemOf(save.error, path)}
      isRequired={name === 'name'}
      value={form[name]}
      onText={(text) => setForm({ ...form, [name]: text.trim() })}
    />
  )

  return (
    <form className="form stack card" onSubmit={onSubmit} aria-label={isNew ? 'New budget' : 'The budget'}>
      {save.error !== null && <Failure error={save.error} />}
      {isNew && text(['name', 'Name', 'Lower-case letters, digits and "-".'], 'name')}
      <h2>For whom</h2>
      <div className="grid">{scopeFields.map((one) => text(one, `scope.${one[0]}`))}</div>
      <h2>Limits</h2>
      <Field label="Resets" hint="In UTC." problem={problemOf(save.error, 'period')}>
        {(control) => (
          <select
            {...control}
            className="input"
            value={form.period}
            onChange={(event) => setForm({ ...form, period: event.target.value })}
          >
            {budgetPeriods.map((period) => (
              <option key={period} value={period}>
                {period === 'total' ? 'never' : `each ${period}`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="grid">{limitFields.map((one) => text(one, one[0]))}</div>
      <Offered to={putBudget}>
        <div>
          <Button type="submit" look="main" busy={save.isPending}>
            {isNew ? 'Create' : 'Save'}
          </Button>
        </div>
      </Offered>
    </form>
  )
}
