// Findings of scans, patches that were proposed for them, and the routes of both.
import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { confidences, severities } from '../../kinds/scans/repository-scan.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { NamespaceQuery } from '../resources/list.ts'
import { errorResponses, ReadHeaders, routesOf } from '../resources/route.ts'

export const findingStates = ['open', 'patch_pending', 'patch_ready', 'pr_open', 'dismissed', 'fixed'] as const
/** What was done about a finding. */
export type FindingState = (typeof findingStates)[number]
export const validationStatuses = ['unvalidated', 'pending', 'validated', 'failed', 'skipped'] as const
/** Whether a finding was confirmed. */
export type ValidationStatus = (typeof validationStatuses)[number]
export const patchStatuses = ['pending', 'succeeded', 'failed', 'pr_opened'] as const
/** How far a patch proposal is. */
export type PatchStatus = (typeof patchStatuses)[number]

export const pullRequestStates = ['open', 'merged', 'closed'] as const
/** What became of the pull request of a finding; `closed`: without a merge. */
export type PullRequestState = (typeof pullRequestStates)[number]

/** Where a finding is seen. */
export const Evidence = z
  .object({
    kind: field(z.enum(['file', 'artifact', 'note']), 'What it refers to.'),
    path: field(z.string().optional(), 'File in the repository.', 'src/server.ts'),
    startLine: field(z.int().min(1).optional(), 'First line, from 1.', 10),
    endLine: field(z.int().min(1).optional(), 'Last line.', 12),
    symbol: field(z.string().optional(), 'Function or type that it lies in.', 'login'),
    quote: field(z.string().optional(), 'The cited lines.', 'db.query(sql + name)'),
    label: field(z.string().optional(), 'What it shows.', 'validation output'),
    taskName: field(z.string().optional(), 'Task that produced it.', 'shop-validation-0f1e2d'),
    name: field(z.string().optional(), 'Artifact of that task.', 'validation.txt'),
  })
  .meta({ id: 'Evidence' })
export type Evidence = z.infer<typeof Evidence>

/** What a review, or a scanner, says about a weakness. */
export const FindingDraft = z.object({
  fingerprint: field(z.string(), 'Stays the same when lines move or files are renamed.', 'v3:9f86d0'),
  title: field(z.string(), 'What is wrong, in a line.', 'SQL injection in login'),
  category: field(z.string().optional(), 'Class of weakness.', 'injection'),
  summary: field(z.string(), 'What is wrong.', 'The name is put into the statement as it is.'),
  severity: field(z.enum(severities), 'How bad it is.'),
  confidence: field(z.enum(confidences), 'How sure it is.'),
  ruleID: field(z.string().optional(), 'Rule of the scanner that reported it.', 'python.lang.sqli'),
  triage: field(z.string().optional(), 'How it was judged.', 'reachable without login'),
  filePath: field(z.string().optional(), 'File of the first evidence.', 'src/server.ts'),
  line: field(z.int().min(1).optional(), 'Line of the first evidence.', 10),
  rootCause: field(z.string().optional(), 'Why it is there.', 'text is joined into SQL'),
  reproduction: field(z.string().optional(), 'How to see it.', "log in as ' or 1=1"),
  remediation: field(z.string().optional(), 'What to do.', 'use parameters'),
  suggestedAction: field(z.string().optional(), 'Next step.', 'patch'),
  whyTestsDoNotAlreadyCoverThis: field(z.string().optional(), 'Why no test failed.', 'no test uses quotes'),
  suggestedRegressionTest: field(z.string().optional(), 'Test that would fail.', 'log in with a quote'),
  minimumFixScope: field(z.string().optional(), 'Least that must change.', 'src/server.ts'),
  evidence: field(z.array(Evidence), 'Where it is seen.'),
})
export type FindingDraft = z.infer<typeof FindingDraft>

/** Why a finding is of no concern, and who says so. */
export const Dismissal = z
  .object({
    reason: field(z.string(), 'Why it is of no concern.', 'the input is a constant'),
    by: field(z.string(), 'Who dismissed it.', 'ada'),
    at: field(Timestamp, 'When.'),
    until: field(Timestamp.optional(), 'When it becomes open again, if it is still there.'),
  })
  .meta({ id: 'Dismissal' })
export type Dismissal = z.infer<typeof Dismissal>

/** Where a finding came from. */
export const FindingOrigin = z.object({
  scanRunID: field(z.string(), 'Run that last saw it.', 'scan_0f1e2d3c4b5a'),
  scanTaskName: field(z.string().optional(), 'Task that last saw it.', 'shop-review-0f1e2d'),
  sliceID: field(z.string().optional(), 'Slice in which it was seen.', 'slice_0f1e2d'),
  commitSHA: field(z.string().optional(), 'Commit at which it was last seen.', '4b825dc642cb6eb9a060e54b'),
  model: field(z.string().optional(), 'Model that reported it.', 'large-model'),
  policyDigest: field(z.string().optional(), 'Digest of the policies of that run.', 'sha256:9f86d0'),
  importedFrom: field(z.string().optional(), 'Scanner that it was imported from.', 'semgrep'),
})
export type FindingOrigin = z.infer<typeof FindingOrigin>

/** A finding as it is stored. */
export const Finding = z
  .object({
    id: field(z.string(), '`fnd_` and 12 hex digits of a hash over scan and fingerprint.', 'fnd_0f1e2d3c4b5a'),
    namespace: field(z.string(), 'Namespace of the scan.', 'default'),
    repositoryScan: field(z.string(), 'Scan that it belongs to.', 'shop'),
    ...FindingOrigin.shape,
    ...FindingDraft.shape,
    validationStatus: field(z.enum(validationStatuses), 'Whether it was confirmed.'),
    validationJSON: field(z.string().optional(), 'What the validation says, as JSON.', '{}'),
    validationTaskName: field(z.string().optional(), 'Task of its last validation.', 'shop-validation-0f1e2d'),
    state: field(z.enum(findingStates), 'What was done about it.'),
    dismissal: field(Dismissal.optional(), 'Present while it is dismissed.'),
    reopenedAt: field(Timestamp.optional(), 'When it last became open again.'),
    reopenReason: field(z.string().optional(), 'Why it is open again.', 'its pull request was closed without a merge'),
    fixedAt: field(Timestamp.optional(), 'When a review no longer saw it.'),
    patchProposalID: field(z.string().optional(), 'The last patch that was proposed.', 'patch_0f1e2d3c4b5a'),
    prNumber: field(z.int().min(1).optional(), 'Number of its pull request.', 12),
    prURL: field(z.string().optional(), 'Address of its pull request.', 'https://github.com/owner/repo/pull/12'),
    prState: field(z.enum(pullRequestStates).optional(), 'What became of its pull request.'),
    prMergedAt: field(Timestamp.optional(), 'When its pull request was seen to be merged.'),
    createdAt: field(Timestamp, 'When it was first seen.'),
    updatedAt: field(Timestamp, 'When it last changed.'),
  })
  .meta({ id: 'Finding' })
export type Finding = z.infer<typeof Finding>

/** A command that the service ran to try a patch. */
export const RanCommand = z
  .object({
    command: field(z.string(), 'The command.', 'npm test'),
    exitCode: field(z.int(), 'Its exit code.', 0),
    output: field(z.string().optional(), 'The end of what it wrote, without what looks like a secret.', '12 passed'),
  })
  .meta({ id: 'RanCommand' })
export type RanCommand = z.infer<typeof RanCommand>

/** A test that was written with a patch. */
export const RegressionTest = z.object({
  path: field(z.string(), 'Path of the test in the repository.', 'src/server.test.ts'),
  failsWithout: field(
    z.boolean().optional(),
    'Whether the service saw tests fail with the tests of the patch alone that pass with the whole patch. Absent: not tried.',
  ),
})
export type RegressionTest = z.infer<typeof RegressionTest>

/** A patch that was proposed for a finding. */
export const PatchProposal = z
  .object({
    id: field(z.string(), '`patch_` and 12 hex digits of a hash over its task.', 'patch_0f1e2d3c4b5a'),
    namespace: field(z.string(), 'Namespace of the scan.', 'default'),
    repositoryScan: field(z.string(), 'Scan that it belongs to.', 'shop'),
    findingID: field(z.string(), 'Finding that it repairs.', 'fnd_0f1e2d3c4b5a'),
    taskName: field(z.string(), 'Task that wrote it.', 'shop-patch-0f1e2d'),
    branch: field(z.string(), 'Branch that it is on.', 'svc/security/fnd-0f1e2d3c4b5a-0f1e2d3c4b5a'),
    baseCommit: field(z.string().optional(), 'Commit that it is made against.', '4b825dc642cb6eb9a060e54b'),
    headCommit: field(z.string().optional(), 'Commit that was pushed.', '4b825dc642cb6eb9a060e54c'),
    status: field(z.enum(patchStatuses), 'How far it is.'),
    failure: field(z.string().optional(), 'Why it failed and what to do.', 'the summary names other files'),
    summary: field(z.string().optional(), 'What it changes.', 'uses parameters'),
    changedFiles: field(z.array(z.string()).optional(), 'Files that it changes.', ['src/server.ts']),
    diffArtifact: field(
      z.string().optional(),
      'Artifact of the task with the diff.',
      'security-patch-fnd_0f1e2d3c4b5a.diff',
    ),
    summaryArtifact: field(
      z.string().optional(),
      'Artifact of the task with the summary.',
      'security-patch-fnd_0f1e2d3c4b5a.json',
    ),
    testsBefore: field(z.array(RanCommand).optional(), 'The commands of `spec.tests` as they ended before the patch.'),
    testsRun: field(z.array(RanCommand).optional(), 'The same commands with the patch.'),
    regressionTest: field(RegressionTest.optional(), 'Test that the patch adds, and what was seen of it.', {
      path: 'src/server.test.ts',
      failsWithout: true,
    }),
    risk: field(z.enum(['low', 'medium', 'high']).optional(), 'What it could break.'),
    prNumber: field(z.int().min(1).optional(), 'Number of its pull request.', 12),
    prURL: field(z.string().optional(), 'Address of its pull request.', 'https://github.com/owner/repo/pull/12'),
    createdAt: field(Timestamp, 'When it was asked for.'),
    updatedAt: field(Timestamp, 'When it last changed.'),
  })
  .meta({ id: 'PatchProposal' })
export type PatchProposal = z.infer<typeof PatchProposal>

const params = z.object({ id: field(limitedText(64).min(1), 'Id of the finding.', 'fnd_0f1e2d3c4b5a') })

/** Why a finding is of no concern. */
export const DismissRequest = z
  .strictObject({
    reason: field(
      limitedText(4096)
        .refine((text) => text.trim() !== '', 'is required: say why the finding is of no concern')
        .default('no reason was given'),
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

const one = routesOf({
  tag: 'Security',
  base: '/api/v1/security/findings/:id',
  kind: 'RepositoryScan',
  params,
  query: NamespaceQuery,
})

export const getFinding = one.get('', {
  summary: 'Get a finding',
  description: 'Answers a finding with its evidence and where it came from.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'The finding', schema: Finding } },
})

export const dismissFinding = one.post('/dismiss', {
  summary: 'Dismiss a finding',
  description: 'Says that the finding is of no concern. It stays dismissed when lines above it move.',
  body: DismissRequest,
  bodyOptional: true,
  responses: { ...errorResponses(404, 409), 204: { description: 'Dismissed' } },
})

export const reopenFinding = one.post('/reopen', {
  summary: 'Reopen a finding',
  description: 'Makes a finding that is dismissed or fixed an open one.',
  responses: { ...errorResponses(404, 409), 204: { description: 'Open' } },
})

export const validateFinding = one.post('/validate', {
  summary: 'Validate a finding',
  description: 'Has an agent try to confirm the finding in a workspace of its own.',
  responses: { ...errorResponses(404, 409), 202: { description: 'The finding, being validated', schema: Finding } },
})

export const patchFinding = one.post('/patch', {
  summary: 'Have a patch written',
  description: 'Has an agent repair the finding in a workspace of its own, on a branch of its own.',
  responses: { ...errorResponses(404, 409), 201: { description: 'The proposal', schema: PatchProposal } },
})

export const listFindingPatches = one.get('/patches', {
  summary: 'List the patches of a finding',
  description: 'Lists the patches that were proposed, the newest first; one that failed says why.',
  headers: ReadHeaders,
  responses: { ...errorResponses(404), 200: { description: 'Patches', schema: PatchProposalList } },
})

export const createFindingPullRequest = one.post('/pull-request', {
  summary: 'Open a pull request for a finding',
  description: 'Opens a pull request of the newest patch that passed. Again: answers the one that there is.',
  responses: {
    ...errorResponses(403, 404, 409, 413, 429, 502),
    200: { description: 'The pull request', schema: RemediationPullRequest },
  },
})
