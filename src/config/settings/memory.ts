// What is remembered beyond one task, and how it is found.
import { z } from 'zod'
import { define, names } from '../fields.ts'

/** `default/main/embed-small`: a namespace, a provider and its model, which may have slashes of its own. */
const embedding = z.string('must be namespace/provider/model').transform((text, context) => {
  const [, namespace = '', name = '', model = ''] =
    /^([a-z0-9][-a-z0-9]*)\/([a-z0-9][-.a-z0-9]*)\/(\S+)$/.exec(text) ?? []
  if (model === '') context.addIssue('must be namespace/provider/model, such as default/main/embed-small')
  return { namespace, name, model }
})

const agent = z
  .string()
  .regex(/^[-a-z0-9*?]+\/[-.a-z0-9*?]+$/, 'must be namespace/agent, such as default/scribe or team-a/*')

/** What is remembered beyond one task, and how it is found. */
export const memorySettings = {
  memoryEmbedding: define(embedding.optional(), {
    help: 'provider and model that make vectors of memories, to find those in other words than the question (default: what the memories themselves tell)',
    example: 'default/main/embed-small',
    placeholder: 'namespace/provider/model',
  }),
  applyMemoriesOf: define(names.pipe(z.array(agent)).default([]), {
    help: 'agents whose proposals of memories are accepted and applied at once; * and ? stand for any (default: a person decides)',
    example: 'default/scribe',
    placeholder: 'namespace/agent,...',
  }),
} as const
