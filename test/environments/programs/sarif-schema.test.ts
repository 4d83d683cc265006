// What is exported as SARIF, judged by the validator of the format's authors (scripts/install-clients.sh installs it).
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../src/contract/api/scans/findings.ts'
import { pathOf, planted } from '../../fixtures/scans/planted.ts'
import { readExport } from '../../fixtures/scans/sarif.ts'

const tool = join(import.meta.dirname, '../../clients/node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool')

const findings = planted.map(
  (one, at): Finding => ({
    id: `fnd_${at}`,
    namespace: 'default',
    repositoryScan: 'shop',
    scanRunID: 'scan_1',
    fingerprint: `v3:${String(at).padStart(64, '0')}`,
    title: one.title,
    category: one.category,
    summary: one.summary,
    severity: one.severity,
    confidence: 'high',
    filePath: pathOf(one),
    line: 5,
    evidence: [
      { kind: 'file', path: pathOf(one), startLine: 5, endLine: 5, symbol: 'f', quote: one.weak },
      { kind: 'file', path: `${pathOf(one)} ü%.py`, startLine: 1, endLine: 1 },
    ],
    validationStatus: 'unvalidated',
    state: at % 3 === 0 ? 'dismissed' : 'open',
    ...(at % 3 === 0 && { dismissal: { reason: 'fine', by: 'ada', at: '2030-01-01T00:00:00Z' } }),
    createdAt: '2030-01-01T00:00:00Z',
    updatedAt: '2030-01-01T00:00:00Z',
  }),
)

/** Rules that it reports as errors; it rewrites what it is given. */
function validate(log: unknown): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sarif-'))
  try {
    const [input, output] = [join(folder, 'in.sarif'), join(folder, 'out.sarif')]
    writeFileSync(input, JSON.stringify(log))
    chmodSync(tool, 0o755)
    const env = { ...process.env, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1', HOME: folder }
    try {
      execFileSync(tool, ['validate', input, '--output', output, '--level', 'Error', '--log', 'ForceOverwrite'], {
        env,
        stdio: 'pipe',
      })
    } catch {
      // It exits so when it has found something: the report says what.
    }
    const { runs } = JSON.parse(readFileSync(output, 'utf8').replace(/^\uFEFF/, ''))
    return runs[0].results
      .filter(({ level }: { level?: string }) => level === 'error')
      .map((one: object) => JSON.stringify(one).slice(0, 300))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe.skipIf(!existsSync(tool))('exported SARIF', async () => {
  const log = await readExport(findings, {
    scan: 'shop',
    repoURL: 'https://github.com/owner/repo',
    branch: 'main',
    commit: 'c1',
  })

  it('is valid by the schema and the rules of the format', async () => {
    expect(validate(log)).toEqual([])
    expect(validate(await readExport([], { scan: 'shop', repoURL: 'git@host:a/b' }))).toEqual([])
    // It passes over these two, so they are looked at here.
    expect(log.version).toBe('2.1.0')
    expect(new Set(log.runs[0].results.map(({ level }: { level: string }) => level))).toEqual(
      new Set(['error', 'warning', 'note']),
    )
  })

  it('would not pass with a wrong type', () => {
    const [run] = log.runs
    expect(
      validate({ ...log, runs: [{ ...run, results: [{ ...run?.results[0], locations: 'here' }] }] }).length,
    ).toBeGreaterThan(0)
  })
})
