// Review slices: the parts of a repository that are reviewed one by one, cut without a model.

import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { confidences } from '../../kinds/scans/repository-scan.ts'
import { field } from '../../schema/field.ts'

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

const path = z.string().max(4096)

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
