// What people do with findings of security scans.

import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { NamespaceQuery } from '../resources/list.ts'
import { defineRoute, errorResponses, ReadHeaders } from '../resources/route.ts'
import { Finding, PatchProposal } from './findings.ts'

const tag = 'Security'
const base = '/api/v1/security/findings/:id'
const params = z.object({ id: field(z.string().min(1).max(64), 'Id of the finding.', 'fnd_0f1e2d3c4b5a') })
const reading = { headers: ReadHeaders, auth: 'user', verb: { verb: 'get', kind: 'RepositoryScan' } } as const
const writing = { auth: 'user', verb: { verb: 'update', kind: 'RepositoryScan' } } as const
const common = { tag, params, query: NamespaceQuery } as const

/** Why a finding is of no concern. */
export const DismissRequest = z
  .strictObject({
    reason: field(
      z
        .string()
        .max(4096)
        .refine((text) => text.trim() !== '', 'is required: say why the finding is of no concern'),
      'Why the finding is of no concern.',
      'the input is a constant',
    ),
    until: field(Timestamp.optional(), 'When it becomes open again. Without it: never by itself.'),
  })
  .meta({ id: 'DismissRequest' })
export type DismissRequest = z.infer<typeof DismissRequest>

/** The patches of a finding, the newest first. */
export const PatchProposalList = z
  .object({ items: field(z.array(PatchProposal), 'Patches, the newest first.') })
  .meta({ id: 'PatchProposalList' })

/** A pull request that repairs a finding. */
export const RemediationPullRequest = z
  .object({
    prNumber: field(z.int().min(1), 'Number of the pull request.', 12),
    prURL: field(z.string(), 'Address of the pull request.', 'https://github.com/owner/repo/pull/12'),
    status: field(z.enum(['created', 'existing']), 'Whether it was there already.'),
  })
  .meta({ id: 'RemediationPullRequest' })
export type RemediationPullRequest = z.infer<typeof RemediationPullRequest>

export const getFinding = defineRoute({
  ...common,
  ...reading,
  method: 'GET',
  path: base,
  summary: 'Get a finding',
  description: 'Answers a finding with its evidence and where it came from.',
  responses: { ...errorResponses(404), 200: { description: 'The finding', schema: Finding } },
})

export const dismissFinding = defineRoute({
  ...common,
  ...writing,
  method: 'POST',
  path: `${base}/dismiss`,
  summary: 'Dismiss a finding',
  description: 'Says that the finding is of no concern. It stays dismissed when lines above it move.',
  body: DismissRequest,
  responses: { ...errorResponses(404, 409), 204: { description: 'Dismissed' } },
})

export const reopenFinding = defineRoute({
  ...common,
  ...writing,
  method: 'POST',
  path: `${base}/reopen`,
  summary: 'Reopen a finding',
  description: 'Makes a finding that is dismissed or fixed an open one.',
  responses: { ...errorResponses(404, 409), 204: { description: 'Open' } },
})

export const validateFinding = defineRoute({
  ...common,
  ...writing,
  method: 'POST',
  path: `${base}/validate`,
  summary: 'Validate a finding',
  description: 'Has an agent try to confirm the finding in a workspace of its own.',
  responses: { ...errorResponses(404, 409), 202: { description: 'The finding, being validated', schema: Finding } },
})

export const patchFinding = defineRoute({
  ...common,
  ...writing,
  method: 'POST',
  path: `${base}/patch`,
  summary: 'Have a patch written',
  description: 'Has an agent repair the finding in a workspace of its own, on a branch of its own.',
  responses: { ...errorResponses(404, 409), 201: { description: 'The proposal', schema: PatchProposal } },
})

export const listFindingPatches = defineRoute({
  ...common,
  ...reading,
  method: 'GET',
  path: `${base}/patches`,
  summary: 'List the patches of a finding',
  description: 'Lists the patches that were proposed, the newest first; one that failed says why.',
  responses: { ...errorResponses(404), 200: { description: 'Patches', schema: PatchProposalList } },
})

export const createFindingPullRequest = defineRoute({
  ...common,
  ...writing,
  method: 'POST',
  path: `${base}/pull-request`,
  summary: 'Open a pull request for a finding',
  description: 'Opens a pull request of the newest patch that passed. Again: answers the one that there is.',
  responses: {
    ...errorResponses(403, 404, 409, 413, 429, 502),
    200: { description: 'The pull request', schema: RemediationPullRequest },
  },
})
