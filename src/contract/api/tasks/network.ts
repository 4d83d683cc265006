// What the programs of a task may reach, who said so, and what they reached and were refused.
import { z } from 'zod'
import { Name, Timestamp } from '../../kinds/resources/metadata.ts'
import { Network, networkSources } from '../../kinds/tasks/network.ts'
import { field } from '../../schema/field.ts'
import { NamespaceQuery } from '../resources/list.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

const count = (description: string, example: number) => field(z.int().min(0), description, example)

/** A host, over all attempts. */
export const TaskHost = z
  .object({
    host: field(z.string(), 'Name or address; `*` stands for all beyond the hosts that are counted apart.', 'pypi.org'),
    port: field(z.int().min(0).max(65_535), 'Port; 0 with `*`.', 443),
    connections: count('Connections that were made.', 12),
    refused: count('Connections that were refused.', 0),
    sent: count('Bytes sent to it.', 4096),
    received: count('Bytes received from it.', 1_048_576),
    firstAt: field(Timestamp, 'When a program first asked for it.'),
    lastAt: field(Timestamp, 'When it was last used or refused.'),
    allowedBy: field(
      z.string().optional(),
      'What allows it now: an entry of the list, `onUnknown`, or `approval` for the answer of a person. Absent: nothing does.',
      'packages',
    ),
    reason: field(
      z.string().optional(),
      'Why it was last refused.',
      'pypi.org:443 is not on the allowlist of this task',
    ),
  })
  .meta({ id: 'TaskHost' })
export type TaskHost = z.infer<typeof TaskHost>

/** What applies to the programs of a task. */
const TaskNetworkRules = Network.extend({
  from: field(
    z.enum(networkSources),
    'Who says so: the task, its agent, its namespace (`--namespace-network`) or the service.',
  ),
  narrowedBy: field(
    z
      .object({
        task: field(z.string().optional(), 'Name of the task; absent: it is gone.', 'nightly-report'),
        from: field(z.enum(networkSources), 'Who says so of that task.'),
      })
      .optional(),
    'Present: the task would have more by itself, and has no more than the task above it which is named here.',
  ),
  within: field(
    z.array(z.string()).optional(),
    'Present: what the context of the task narrows it to (`tctx.allowedHosts`).',
    ['github.com'],
  ),
}).meta({ id: 'TaskNetworkRules' })

/** The network of a task. */
export const TaskNetwork = z
  .object({
    network: field(
      TaskNetworkRules.optional(),
      'What applies; absent for a task of type `ai`, which runs no programs.',
    ),
    hosts: field(
      z.array(TaskHost),
      'What its programs reached and were refused, the most bytes first. Nothing is counted where it is `open`.',
    ),
    learned: field(
      z.array(z.string()),
      'A list for `spec.network.allow` with what it reached and asked for, without what is private and what a person declined.',
      ['pypi.org', 'files.pythonhosted.org'],
    ),
  })
  .meta({ id: 'TaskNetwork' })
export type TaskNetwork = z.infer<typeof TaskNetwork>

export const getTaskNetwork = routesOf({ tag: 'Tasks', kind: 'Task' }).get('/api/v1/tasks/:id/network', {
  summary: 'Network of a task: what it may reach, and what it reached',
  description:
    'Answers which network applies to the programs of the task and who said so, and what they reached and were refused, host by host, while the task runs and afterwards.',
  params: z.object({ id: field(Name, 'Name of the task.', 'nightly-report') }),
  query: NamespaceQuery,
  responses: { ...errorResponses(404), 200: { description: 'The network', schema: TaskNetwork } },
})
