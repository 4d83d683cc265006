import { describe, expect, it } from 'vitest'
import { Finding, PatchProposal } from './findings.ts'
import { DroppedFinding, ReviewSlice, ScanRun, SliceDraft, scannerPolicyVersion, ThreatModel } from './runs.ts'

const ofScan = { namespace: 'default', repositoryScan: 'shop' }
const now = '2030-01-01T00:00:00.000Z'

describe('records of scans', () => {
  it('knows a slice from its draft', () => {
    const draft = {
      schemaVersion: 1,
      id: 'slice_0f1e2d3c4b5a6978',
      source: 'deterministic-go-package',
      title: 'Go package auth',
      summary: '1 file',
      kind: 'package',
      ownedFiles: [{ path: 'auth/login.go' }],
      confidence: 'high',
    }
    expect(SliceDraft.parse(draft)).toEqual(draft)
    const slice = { ...draft, ...ofScan, status: 'pending', createdAt: now, updatedAt: now }
    expect(ReviewSlice.parse(slice)).toEqual(slice)
    expect(ReviewSlice.safeParse({ ...slice, status: 'done' }).success).toBe(false)
  })

  it('refuses states and layers that do not exist', () => {
    const finding = {
      ...ofScan,
      id: 'fnd_0f1e2d3c4b5a',
      fingerprint: 'v3:1',
      scanRunID: 'scan_0f1e2d3c4b5a',
      title: 'SQL injection',
      summary: 'text is joined',
      severity: 'high',
      confidence: 'high',
      evidence: [{ kind: 'file', path: 'a.ts', startLine: 1, endLine: 2 }],
      validationStatus: 'unvalidated',
      state: 'open',
      createdAt: now,
      updatedAt: now,
    }
    expect(Finding.parse(finding)).toEqual(finding)
    expect(Finding.safeParse({ ...finding, state: 'resolved' }).success).toBe(false)
    const dropped = { ...ofScan, id: 'drop_fnd_1', scanRunID: 's', taskName: 't', reason: 'r', createdAt: now }
    expect(DroppedFinding.safeParse({ ...dropped, layer: 'cap' }).success).toBe(true)
    expect(DroppedFinding.safeParse({ ...dropped, layer: 'mood' }).success).toBe(false)
  })

  it('knows runs, threat models and patches', () => {
    const counts = { sliceCount: 0, reviewedSliceCount: 0, skippedSliceCount: 0, failedSlices: [] }
    const sums = { acceptedFindings: 0, droppedFindings: 0, tokens: 0, cost: 0, scannerPolicyVersion }
    const run = { ...ofScan, id: 'scan_1', mode: 'manual', phase: 'pending', stage: 'start', startedAt: now }
    expect(ScanRun.safeParse({ ...run, ...counts, ...sums }).success).toBe(true)
    const times = { createdAt: now, updatedAt: now }
    expect(ThreatModel.safeParse({ ...ofScan, ...times, version: 1, content: '#', source: 'edited' }).success).toBe(
      true,
    )
    const patch = { ...ofScan, ...times, id: 'patch_1', findingID: 'fnd_1', taskName: 't', branch: 'b' }
    expect(PatchProposal.safeParse({ ...patch, status: 'pending' }).success).toBe(true)
  })
})
