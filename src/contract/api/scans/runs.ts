// Runs of a scan, its slices, its threat model, and what was dropped of a model's output.
import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { confidences } from '../../kinds/scans/repository-scan.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'

export const runModes = ['initial', 'incremental', 'manual'] as const
/** Why a run was started. */
export type RunMode = (typeof runModes)[number]
export const scanRunPhases = ['pending', 'running', 'succeeded', 'failed'] as const
/** How far a run is. */
export type ScanRunPhase = (typeof scanRunPhases)[number]
export const runStages = ['start', 'threat-model', 'review', 'done'] as const
/** What a run does. */
export type RunStage = (typeof runStages)[number]
export const dropLayers = ['validation', 'filter', 'cap', 'duplicate'] as const
/** Which check dropped a finding. */
export type DropLayer = (typeof dropLayers)[number]
/** Version of the rules that findings are dropped by; part of every policy digest. */
export const scannerPolicyVersion = '2026-06-svc-fp-policy-v1'

const commit = z.string()
const someCommit = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

/** One run of a scan. */
export const ScanRun = z
  .object({
    id: field(z.string(), 'Id of the run.', 'scan_0f1e2d3c4b5a'),
    namespace: field(z.string(), 'Namespace of the scan.', 'default'),
    repositoryScan: field(z.string(), 'Scan that it is a run of.', 'shop'),
    taskName: field(z.string().optional(), 'Task of its threat model.', 'shop-threat-model-0f1e2d'),
    mode: field(
      z.enum(runModes),
      'Why it ran: to see everything, at first or after `historyDays`; by its schedule; or on request.',
    ),
    phase: field(z.enum(scanRunPhases), 'How far it is.'),
    stage: field(z.enum(runStages), 'What it does, or did when it ended.'),
    reason: field(z.string().optional(), 'Why it failed, as one word for programs.', 'BudgetExceeded'),
    errorMessage: field(z.string().optional(), 'Why it failed and what to do.', '2 of 9 slices failed: ...'),
    summary: field(z.string().optional(), 'What came of it.', '9 slices reviewed, 3 findings'),
    startedAt: field(Timestamp, 'When it was started.'),
    completedAt: field(Timestamp.optional(), 'When it ended.'),
    branch: field(z.string().optional(), 'Branch that was scanned; `ref:` and a revision where no branch was.', 'main'),
    baseCommit: field(commit.optional(), 'Commit that changes are counted from.', someCommit),
    headCommit: field(commit.optional(), 'Commit that was scanned.', someCommit),
    sliceCount: field(z.int().min(0), 'Slices of the tree.', 9),
    reviewedSliceCount: field(z.int().min(0), 'Slices that were reviewed.', 7),
    skippedSliceCount: field(z.int().min(0), 'Slices in which nothing had changed.', 1),
    failedSlices: field(z.array(z.string()), 'Slices whose review failed.', ['slice_0f1e2d']),
    retryOf: field(z.string().optional(), 'Run whose failed slices alone are reviewed.', 'scan_0f1e2d3c4b5b'),
    acceptedFindings: field(z.int().min(0), 'Findings that were kept.', 3),
    droppedFindings: field(z.int().min(0), 'Findings that were dropped.', 5),
    tokens: field(z.int().min(0), 'Tokens of its tasks so far.', 48_000),
    cost: field(z.number().min(0), 'Cost of its tasks so far, in US dollars.', 0.42),
    scannerPolicyVersion: field(z.string(), 'Version of the rules that findings are dropped by.', scannerPolicyVersion),
    policyDigest: field(z.string().optional(), 'Digest of its policies.', 'sha256:9f86d0'),
    idempotencyKey: field(z.string().optional(), 'Digest of what was scanned by which rules.', 'scanidem:9f86d0'),
  })
  .meta({ id: 'ScanRun' })
export type ScanRun = z.infer<typeof ScanRun>

/** A finding of a model's output that was not kept. */
export const DroppedFinding = z
  .object({
    id: field(z.string(), 'Id of the record.', 'drop_fnd_0f1e2d3c4b5a'),
    namespace: field(z.string(), 'Namespace of the scan.', 'default'),
    repositoryScan: field(z.string(), 'Scan that it belongs to.', 'shop'),
    scanRunID: field(z.string(), 'Run that it came up in.', 'scan_0f1e2d3c4b5a'),
    taskName: field(z.string(), 'Task that reported it.', 'shop-review-0f1e2d'),
    sliceID: field(z.string().optional(), 'Slice that was reviewed.', 'slice_0f1e2d'),
    reason: field(z.string(), 'Why it was dropped.', 'evidence quote does not match cited file range'),
    layer: field(z.enum(dropLayers), 'Check that dropped it.'),
    sampleJSON: field(z.string().optional(), 'Some of its fields, as JSON, without what looks like a secret.', '{}'),
    createdAt: field(Timestamp, 'When it was dropped.'),
  })
  .meta({ id: 'DroppedFinding' })
export type DroppedFinding = z.infer<typeof DroppedFinding>

/** Who and what could attack the repository, in Markdown. */
export const ThreatModel = z
  .object({
    namespace: field(z.string(), 'Namespace of the scan.', 'default'),
    repositoryScan: field(z.string(), 'Scan that it belongs to.', 'shop'),
    version: field(z.int().min(1), 'Rises with each change.', 2),
    content: field(z.string(), 'The text, in Markdown.', '# Threat model'),
    source: field(z.string(), 'Where it came from: `generated` or `edited`, or a word of whoever wrote it.', 'edited'),
    generatedByScan: field(z.string().optional(), 'Run that wrote it.', 'scan_0f1e2d3c4b5a'),
    createdAt: field(Timestamp, 'When there was first one.'),
    updatedAt: field(Timestamp, 'When it last changed.'),
  })
  .meta({ id: 'ThreatModel' })
export type ThreatModel = z.infer<typeof ThreatModel>

export const sliceSources = [
  'deterministic-go-package',
  'deterministic-node-package',
  'deterministic-node-routes',
  'deterministic-python-package',
  'deterministic-workflows',
  'deterministic-scripts',
  'deterministic-source-package',
  'deterministic-config',
  'deterministic-generic-directory',
] as const
export const sliceKinds = ['package', 'library', 'service', 'route', 'workflow', 'config', 'unknown'] as const
export const sliceStatuses = ['pending', 'reviewed', 'failed', 'skipped'] as const
/** What became of a slice in its last run. */
export type SliceStatus = (typeof sliceStatuses)[number]

const path = limitedText(4096)

/** A file of a slice, and why it belongs to it. */
export const SliceFile = z
  .object({
    path: field(path, 'Path in the repository.', 'src/server.ts'),
    reason: field(z.string().optional(), 'Why the file is part of the slice.', 'imported by src/server.ts'),
    symbol: field(z.string().optional(), 'Exported symbol that it is here for.', 'startServer'),
    route: field(z.string().optional(), 'Route that it answers.', '/login'),
    command: field(z.string().optional(), 'Command that runs it.', 'npm start'),
    startLine: field(z.int().min(1).optional(), 'First line that belongs to it. Absent: the whole file does.', 1),
    endLine: field(z.int().min(1).optional(), 'Last line that belongs to it.', 900),
  })
  .meta({ id: 'SliceFile' })
export type SliceFile = z.infer<typeof SliceFile>

/** A test of a slice, and the command that runs it. */
export const SliceTest = z
  .object({
    path: field(path, 'Path in the repository.', 'src/server.test.ts'),
    command: field(z.string().optional(), 'Command that runs it.', 'npm test'),
  })
  .meta({ id: 'SliceTest' })
export type SliceTest = z.infer<typeof SliceTest>

/** Changed lines of a file, both ends included, from 1. */
export const LineRange = z
  .object({
    path: field(path, 'Path in the repository.', 'src/server.ts'),
    startLine: field(z.int().min(1), 'First line, from 1.', 10),
    endLine: field(z.int().min(1), 'Last line.', 14),
  })
  .meta({ id: 'LineRange' })
export type LineRange = z.infer<typeof LineRange>

/** What is cut from a tree, without what becomes of it. */
export const SliceDraft = z.object({
  schemaVersion: field(z.literal(1), 'Version of the record.'),
  id: field(z.string(), '`slice_` and the first 16 hex digits of a hash over scan, source and title.', 'slice_0f1e2d'),
  source: field(z.enum(sliceSources), 'Rule that the slice was cut by.'),
  title: field(z.string(), 'What it is, for people.', 'Go package internal/auth'),
  summary: field(z.string(), 'What lies in it.', '12 Go files'),
  kind: field(z.enum(sliceKinds), 'Sort of code.'),
  entrypoints: field(z.array(SliceFile).optional(), 'Files where it is entered.'),
  ownedFiles: field(z.array(SliceFile), 'Files that are reviewed with this slice.'),
  contextFiles: field(z.array(SliceFile).optional(), 'Files that are shown beside them.'),
  tests: field(z.array(SliceTest).optional(), 'Its tests.'),
  changedFiles: field(z.array(path).optional(), 'Files of it that changed since the last processed commit.', [
    'src/server.ts',
  ]),
  changedLineRanges: field(z.array(LineRange).optional(), 'Lines that changed in them.'),
  tags: field(z.array(z.string()).optional(), 'Words to find it by.', ['http']),
  trustBoundaries: field(z.array(z.string()).optional(), 'Boundaries that it crosses.', ['network']),
  confidence: field(z.enum(confidences), 'How sure it is that the files belong together.'),
})
export type SliceDraft = z.infer<typeof SliceDraft>

/** A slice as it is stored. */
export const ReviewSlice = SliceDraft.extend({
  namespace: field(z.string(), 'Namespace of the scan.', 'default'),
  repositoryScan: field(z.string(), 'Scan that it belongs to.', 'shop'),
  status: field(z.enum(sliceStatuses), 'Whether it was reviewed.'),
  error: field(z.string().optional(), 'Why its last review failed.', 'the answer is not JSON'),
  lastScanRunID: field(z.string().optional(), 'Run that it was last part of.', 'scan_0f1e2d3c4b5a'),
  lastReviewedAt: field(Timestamp.optional(), 'When it was last reviewed.'),
  taskName: field(z.string().optional(), 'Task of its last review.', 'shop-review-0f1e2d'),
  createdAt: field(Timestamp, 'When it was first cut.'),
  updatedAt: field(Timestamp, 'When it last changed.'),
}).meta({ id: 'ReviewSlice' })
export type ReviewSlice = z.infer<typeof ReviewSlice>
