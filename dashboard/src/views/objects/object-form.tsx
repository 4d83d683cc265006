// The fields of an object; those of a kind that has many stand in sections, each with its anchor and with what is wrong in it.
import { useContext, useEffect } from 'react'
import { count } from '../../parts/count.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { FormContext, useProblem } from '../../parts/schema-form/form-context.ts'
import type { Fields, Schema } from '../../parts/schema-form/schema.ts'
import { SchemaFields } from '../../parts/schema-form/schema-fields.tsx'
import { type FormSection, problemsIn, sectionId, sectionsOf } from './form-sections.ts'
import type { ObjectPath } from './object-kinds.ts'

type FormProps = { schema: Schema; value: Fields; onChange: (value: Fields) => void }

export function ObjectForm({ path, ...form }: FormProps & { path: ObjectPath }) {
  const sections = sectionsOf(path, Object.keys(form.schema.properties?.spec?.properties ?? {}))
  if (sections === undefined) return <SchemaFields path="" {...form} />
  return <Sections {...form} sections={sections} />
}

/** To the first field with a problem, or to its section where the field is not shown. */
function goToProblem(section: FormSection): void {
  const element = document.getElementById(sectionId(section))
  const control = element?.querySelector<HTMLElement>('[aria-invalid="true"]')
  if (control != null) control.focus()
  else element?.scrollIntoView({ block: 'start' })
}

function Sections({ sections, ...form }: FormProps & { sections: readonly FormSection[] }) {
  const { problems } = useContext(FormContext)
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer of the service
  useEffect(() => {
    const wrong = sections.find((section) => problemsIn(section, problems).length > 0)
    if (wrong !== undefined) goToProblem(wrong)
  }, [problems])
  return (
    <div className="form-sections">
      <nav aria-label="Sections of the form" className="form-anchors">
        {sections.map((section) => (
          <a key={section.title} href={`#${sectionId(section)}`}>
            {section.title}
            <ProblemCount section={section} />
          </a>
        ))}
      </nav>
      <div className="stack">
        {sections.map((section) => (
          <Section key={section.title} {...form} section={section} />
        ))}
      </div>
    </div>
  )
}

function ProblemCount({ section }: { section: FormSection }) {
  const found = problemsIn(section, useContext(FormContext).problems)
  return found.length === 0 ? null : <span className="problem"> {count(found.length, 'problem')}</span>
}

const picked = (fields: Record<string, Schema> | undefined, names: readonly string[]) =>
  Object.fromEntries(Object.entries(fields ?? {}).filter(([name]) => names.includes(name)))

/** The same with these of its fields alone. */
function only(schema: Schema, names: readonly string[]): Schema {
  const required = schema.required?.filter((name) => names.includes(name)) ?? []
  return { ...schema, properties: picked(schema.properties, names), required }
}

function Section({ section, schema, value, onChange }: FormProps & { section: FormSection }) {
  const id = sectionId(section)
  return (
    <section id={id} aria-labelledby={`${id}-title`} className="stack form-section">
      <h2 id={`${id}-title`}>
        {section.title}
        <ProblemCount section={section} />
      </h2>
      {section.hasMetadata && (
        <>
          <WholeProblem />
          <SchemaFields path="" schema={only(schema, ['metadata'])} value={value} onChange={onChange} />
        </>
      )}
      <SchemaFields
        path="spec"
        schema={only(schema.properties?.spec ?? {}, section.fields)}
        value={(value.spec ?? {}) as Fields}
        onChange={(spec) => onChange({ ...value, spec })}
      />
    </section>
  )
}

/** What is wrong with the spec as a whole. */
function WholeProblem() {
  const problem = useProblem('spec')
  if (problem === undefined) return null
  return (
    <p className="problem">
      <Foreign text={problem} />
    </p>
  )
}
