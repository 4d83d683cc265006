// Work that is long by nature leaves the event loop free: packing, unpacking, deriving keys and programs have forms of Node that go on
// beside it, or run in a thread.
import { describe, expect, it } from 'vitest'
import { listFiles, readSource } from './source-tree.ts'

/** Files of the service that may use the forms that hold the loop, since what they work on is bounded. */
const exceptions: Record<string, string> = {
  'src/auth/agent-token.ts': 'derives one key of 32 bytes, without rounds',
  'src/llm/call/vendor-request.ts': 'unpacks 64 KiB to at most 1 MiB; what is longer goes the other way',
  'src/runtime/jobs/manifests.ts':
    'packs an assignment, at the fastest level: 16 MiB take 130 ms, and a Secret has room for 1 MiB of what comes out',
  'src/runtime/local/confinement/socket-scope.ts': 'tries once, at the start, whether a program can be confined',
  'src/store/local/secret-key.ts': 'derives one key of 32 bytes, without rounds, and keeps it',
  'src/usecases/scans/sarif-thread.ts': 'runs in a thread',
}

/** Programs of the command line have nobody else to serve. */
const ownPrograms = /^src\/(?:cli|client|launch|terminal|upkeep)\//

const holding =
  /\b(?:gzip|gunzip|unzip|inflate(?:Raw)?|deflate(?:Raw)?|brotli(?:C|Dec)ompress|zstd(?:C|Dec)ompress|scrypt|pbkdf2|hkdf|exec|execFile|spawn)Sync\b/

const holders = listFiles('src', ['.ts'])
  .filter((path) => !path.endsWith('.test.ts') && !ownPrograms.test(path))
  .filter((path) => holding.test(readSource(path)))

describe('work that is long by nature', () => {
  it('does not hold the event loop', () => {
    expect(holders.filter((path) => !(path in exceptions))).toEqual([])
  })

  it('has no exception that nothing needs', () => {
    expect(Object.keys(exceptions).filter((path) => !holders.includes(path))).toEqual([])
  })

  it('would be found', () => {
    for (const text of ['return gzipSync(archive, { level: 1 })', 'br: brotliDecompressSync', "spawnSync('tar', [])"])
      expect(text).toMatch(holding)
    expect('await promisify(gunzip)(bytes)').not.toMatch(holding)
  })
})
