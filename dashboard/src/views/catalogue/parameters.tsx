import { ForeignBlock } from '../../parts/foreign.tsx'

/** The JSON Schema of a tool's arguments. */
export function Parameters({ schema }: { schema: object }) {
  return (
    <section className="card" aria-labelledby="arguments">
      <h2 id="arguments">Arguments</h2>
      <ForeignBlock label="Schema of the arguments" text={JSON.stringify(schema, null, 2)} />
    </section>
  )
}
