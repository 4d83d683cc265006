// Limits and defaults of chat and of memory.
import { z } from 'zod'
import { booleanValue, define, duration, names, whole } from '../fields.ts'

/** Limits and defaults of chat. */
export const chatSettings = {
  chatEnabled: define(booleanValue.default(true), { help: 'whether the chat endpoint is served' }),
  chatProvider: define(z.string('must be text').default(''), {
    help: 'provider of chat and proxies when a request names none (default: the one named default)',
    example: 'main',
    placeholder: 'name',
  }),
  chatModel: define(z.string('must be text').default(''), {
    help: 'model of chat and proxies when neither request, agent nor provider names one',
    example: 'large-model',
    placeholder: 'name',
  }),
  chatMaxIterations: define(whole(1).default(50), { help: 'most model calls of one chat turn or proxy request' }),
  chatMaxDuration: define(duration.default('30m'), {
    help: 'wall-clock time of one chat turn or proxy request',
    placeholder: 'duration',
  }),
  chatToolTimeout: define(duration.default('60s'), {
    help: 'longest run of one tool call in chat and proxies',
    placeholder: 'duration',
  }),
  chatMaxConcurrent: define(whole(1).default(10), { help: 'concurrent chat turns; more get 429' }),
  chatMaxConcurrentPerNamespace: define(whole(1).optional(), {
    help: 'concurrent chat turns of one namespace; those of owners do not count (default: as many as there may be)',
    example: '5',
  }),
  chatMaxConcurrentPerCaller: define(whole(1).optional(), {
    help: 'concurrent chat turns of one caller; owners have no such limit (default: as many as there may be; when they run short, whoever has fewest goes first)',
    example: '5',
  }),
  chatMaxTasksPerTurn: define(whole(1).default(5), { help: 'tasks that one chat turn may create' }),
  chatMaxSessionSize: define(whole(1024).default(512_000), {
    help: 'bytes of a chat session above which its oldest messages are left out',
    placeholder: 'bytes',
  }),
} as const

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
