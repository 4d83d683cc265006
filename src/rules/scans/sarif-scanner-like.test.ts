// Small files as kinds of scanners write them: everything in them is true, so everything is kept.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ingestSarif } from '../../../test/fixtures/scans/sarif.ts'
import { makeSourceText } from './finding-evidence.ts'

const folder = join(import.meta.dirname, '../../../test/fixtures/scans/scanner-like')
const python = 'import os\n\ndef run(cmd, name):\n    q = name\n    os.system(cmd)\n    return q\n'
const tree: Record<string, string> = {
  'package-lock.json': '{\n  "name": "shop"\n}\n',
  'config/app.env': '# keys\nKEY=AKIAIOSFODNN7EXAMPLE\nTOKEN=abcdef\n',
  Dockerfile: 'FROM alpine\nRUN apk add curl\n',
  'src/files.js':
    'const fs = require("fs")\nexports.read = (q) => {\n  fs.readFileSync(q)\n  fs.unlinkSync(q)\n  fs.statSync(q)\n  eval(q)\n}\n',
  'dotnet/Shop App/Pay.cs':
    'class Pay\n{\n  void Run()\n  {\n    MD5.Create().ComputeHash(data);\n    db.Run("select " + q);\n  }\n}\n',
  'app.py': '# another\n\n\n\n\n',
  'packages/web/app.py': python,
  'packages/web/setup.py': '',
  'java/src/main/java/com/shop/Store.java':
    'class Store {\n  void run(String q) {\n    int r = new Random().nextInt();\n    db.execute("select " + q);\n  }\n}\n',
  '.github/workflows/ci.yml': 'on:\n  push:\n    branch: main\n    run: echo\n',
}

async function take(name: string, known: Parameters<typeof ingestSarif>[0]['known'] = []) {
  const found = await ingestSarif({
    text: readFileSync(join(folder, name), 'utf8'),
    paths: Object.keys(tree),
    run: { id: 'r', taskName: 't' },
    known,
    readSource: async (path) => (tree[path] === undefined ? undefined : makeSourceText(Buffer.from(tree[path]))),
  })
  if ('fault' in found) throw new Error(found.fault)
  const accepted = [...found.byTool.values()].flatMap((one) => one.accepted)
  return { accepted, dropped: [...found.byTool.values()].flatMap((one) => one.dropped) }
}

const lock = 'package-lock.json:1 vulnerable-dependency'
const expected: Record<string, string[]> = {
  'dependencies-by-package.sarif': [lock, lock, lock, lock],
  'dependencies-by-match.sarif': Array(5).fill(lock),
  'dependencies-of-ci.sarif': [lock, lock],
  'secrets.sarif': [
    'config/app.env:2 aws-access-token',
    'config/app.env:2 generic-api-key',
    'config/app.env:3 generic-api-key',
  ],
  'whole-files.sarif': ['Dockerfile:1 CIS-DI-0001', 'Dockerfile:1 CIS-DI-0005', 'Dockerfile:1 CIS-DI-0006'],
  'path-traversals.sarif': ['src/files.js:3 cwe-022', 'src/files.js:4 cwe-022', 'src/files.js:5 cwe-022'],
  'windows.sarif': [
    'dotnet/Shop App/Pay.cs:5 CA5350',
    'dotnet/Shop App/Pay.cs:5 CA5350',
    'dotnet/Shop App/Pay.cs:6 CA3001',
  ],
  'absolute-paths.sarif': ['src/files.js:6 detect-eval-with-expression', 'packages/web/app.py:2 no-undef'],
  'source-folder.sarif': [
    'java/src/main/java/com/shop/Store.java:4 SQL_INJECTION',
    'java/src/main/java/com/shop/Store.java:3 PREDICTABLE_RANDOM',
  ],
  'offsets.sarif': ['packages/web/app.py:5 R1', 'packages/web/app.py:1 R2', 'packages/web/app.py:6 R3'],
  'marked-snippets.sarif': ['.github/workflows/ci.yml:3 SyntaxCheck', '.github/workflows/ci.yml:4 SyntaxCheck'],
  'moved-places.sarif': ['packages/web/app.py:5 W1', 'packages/web/app.py:4 W2', 'packages/web/app.py:1 W3'],
}

it('are all here', () => {
  expect(readdirSync(folder).filter((name) => name.endsWith('.sarif'))).toEqual(Object.keys(expected).toSorted())
})

describe.each(Object.entries(expected))('%s', (name, findings) => {
  it('is kept whole, each result as a finding of its own', async () => {
    const { accepted, dropped } = await take(name)
    expect(dropped).toEqual([])
    expect(accepted.map(({ filePath, line, category }) => `${filePath}:${line} ${category}`)).toEqual(findings)
    expect(new Set(accepted.map(({ fingerprint }) => fingerprint)).size).toBe(findings.length)
  })

  it('is known again', async () => {
    const first = await take(name)
    const known = first.accepted.map((draft) => ({ ...draft, importedFrom: 'T', scanRunID: 'earlier' }))
    const again = await take(name, known)
    expect(again.accepted.map(({ fingerprint }) => fingerprint)).toEqual(
      first.accepted.map(({ fingerprint }) => fingerprint),
    )
  })
})
