// Who created a task, and the transaction it belongs to; set by the service and visible to its readers.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'

const boundedText = limitedText(1024)
/** Longer than any token. */
const contextText = limitedText(16_384).optional()

/** The verified caller; set by the server, never by clients (TASK-014). */
export const RequestedBy = z
  .strictObject({
    subject: field(boundedText.optional(), 'Stable id of the caller.', 'user-4711'),
    issuer: field(boundedText.optional(), "Issuer of the caller's token.", 'https://issuer.example.com'),
    username: field(boundedText.optional(), 'Name that the caller is known by.', 'ada'),
    email: field(boundedText.optional(), 'Email address, if the token has one.', 'ada@example.com'),
    groups: field(z.array(boundedText).max(512).optional(), 'Groups that the caller belongs to.', ['developers']),
    roles: field(z.array(boundedText).max(512).optional(), "Roles from the caller's token.", ['editor']),
  })
  .meta({ id: 'RequestedBy', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }] })
export type RequestedBy = z.infer<typeof RequestedBy>

/** The visible part of a transaction's context; every field is listed, so that rules in the cluster can use it. */
export const TransactionContext = z.strictObject({
  purpose: field(contextText, 'Purpose of the transaction.', 'nightly-report'),
  namespace: field(contextText, 'The one namespace in which the transaction may act.', 'team-a'),
  taskType: field(contextText, 'The one type of task that may be created.', 'ai'),
  agent: field(contextText, 'The one agent that may be used.', 'researcher'),
  allowedAgents: field(contextText, 'Agents that may be used, with commas between them.', 'researcher,writer'),
  repo: field(contextText, 'The one repository that may be worked on.', 'https://github.com/owner/repo'),
  branch: field(contextText, 'The one branch that may be worked on.', 'main'),
  ref: field(contextText, 'The one tag, branch or commit that may be checked out.', 'v1.2.0'),
  maxDepth: field(contextText, 'How many levels of child tasks may be created.', '2'),
  allowedTools: field(contextText, 'Tools that may be used, with commas between them.', 'web_fetch,file_read'),
  allowedHosts: field(
    contextText,
    'Hosts and presets that programs may reach at most, with commas between them.',
    'packages,*.example.com',
  ),
  provider: field(contextText, 'The one provider that may be used.', 'main'),
  allowedProviders: field(contextText, 'Providers that may be used, with commas between them.', 'main,backup'),
  model: field(contextText, 'The one model that may be used.', 'large-model'),
  allowedModels: field(contextText, 'Models that may be used, with commas between them.', 'large-model,small-model'),
  e2e: field(contextText, 'Marks a transaction of an end-to-end test.', 'true'),
  trace_id: field(contextText, 'Id of the trace that the transaction belongs to.', '4bf92f3577b34da6a3ce929d0e0e4736'),
})

/** The signed transaction of a context token; set by the server, never by clients (TASK-015). */
export const Transaction = z
  .strictObject({
    profile: field(boundedText.optional(), 'Profile of the context token.', 'kontxt'),
    id: field(
      boundedText.optional(),
      'Id of the transaction, the same for all tasks that it leads to.',
      '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10',
    ),
    issuer: field(boundedText.optional(), 'Issuer of the context token.', 'https://tokens.example.com'),
    audience: field(z.array(boundedText).max(64).optional(), 'Services that the context token is meant for.', ['svc']),
    subject: field(boundedText.optional(), 'Whom the transaction acts for.', 'user-4711'),
    requestingWorkload: field(
      boundedText.optional(),
      'Workload that asked for the context token.',
      'spiffe://example.com/ns/web/sa/front',
    ),
    scope: field(
      limitedText(8192).optional(),
      'Scopes of the context token, with blanks between them.',
      'svc:tasks:create svc:tasks:get',
    ),
    scopes: field(z.array(boundedText).max(256).optional(), 'The same scopes as a list.', ['svc:tasks:create']),
    contextDigest: field(
      boundedText.optional(),
      'Digest of the transaction context (`tctx`).',
      'sha256:9f86d081884c7d65',
    ),
    requesterContextDigest: field(
      boundedText.optional(),
      'Digest of the requester context (`rctx`).',
      'sha256:60303ae22b998861',
    ),
    context: field(TransactionContext.optional(), 'What the transaction is limited to.'),
  })
  .meta({ id: 'Transaction', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }] })
export type Transaction = z.infer<typeof Transaction>
