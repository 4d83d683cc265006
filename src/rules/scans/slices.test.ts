import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readFileFacts } from './file-facts.ts'
import { maxSourceBytes } from './left-out.ts'
import { sliceCaps, sliceId } from './slices.ts'
import { startReading } from './tree-reading.ts'

type Tree = Record<string, string | Buffer>

function cut(tree: Tree, { subPath = '', removed = [] as string[], order = Object.keys(tree) } = {}) {
  const entries = order.map((path) => ({ path, bytes: Buffer.from(tree[path] ?? '').length, kind: 'file' as const }))
  const reading = startReading(entries, subPath)
  for (const path of order.filter((one) => reading.wanted.includes(one)))
    reading.take(path, Buffer.from(tree[path] ?? ''))
  return reading.cut('shop', removed)
}

const ownedBy = (tree: Tree, part: string) =>
  cut(tree)
    .slices.filter(({ title }) => title.includes(part))
    .flatMap(({ ownedFiles }) => ownedFiles.map(({ path }) => path))

const monorepo: Tree = {
  'package.json': '{"name": "root", "workspaces": ["packages/*"]}',
  'packages/api/package.json': '{"name": "@shop/api", "scripts": {"test": "vitest", "start": "node ."}}',
  'packages/api/src/server.ts':
    "import { query } from '@shop/db'\nimport { html } from './page'\napp.get('/users/:id', load)\n",
  'packages/api/src/page.ts': 'export function html() {}\n',
  'packages/api/src/server.test.ts': "import { start } from './server'\n",
  'packages/api/pages/login.tsx': 'export default function Login() {}\n',
  'packages/db/package.json': '{"name": "@shop/db"}',
  'packages/db/src/index.ts': 'export const query = (sql: string) => sql\n',
  'go.mod': 'module example.com/shop\n',
  'cmd/main.go': 'package main\n\nimport (\n\t"example.com/shop/internal/auth"\n)\n\nfunc main() {}\n',
  'internal/auth/auth.go': 'package auth\n\nfunc Check() {}\n',
  'internal/auth/auth_test.go': 'package auth\n',
  'tools/report/job.py': 'from .rows import read, write\nimport shared.paths\n',
  'tools/report/rows.py': 'def read(): pass\n',
  'tools/shared/paths.py': 'ROOT = "/"\n',
  'src/main/java/com/shop/Pay.java': 'import com.shop.Store;\n@Path("/pay")\npublic class Pay {}\n',
  'src/main/java/com/shop/Store.java': 'public class Store {}\n',
  '.github/workflows/ci.yml': 'on: push\n',
  'scripts/deploy.sh': '#!/bin/sh\n',
  'bin/run': '#!/usr/bin/env python3\nprint(1)\n',
  Dockerfile: 'FROM scratch\n',
  'db/schema.sql': 'create table users (id int);\n',
}

describe('slices of a tree', () => {
  it('are the same in any order of files', () => {
    const first = cut(monorepo)
    fc.assert(
      fc.property(fc.shuffledSubarray(Object.keys(monorepo), { minLength: Object.keys(monorepo).length }), (order) => {
        expect(cut(monorepo, { order })).toEqual(first)
      }),
      { numRuns: 50 },
    )
    expect(first.slices.map(({ id }) => id)).toEqual(first.slices.map(({ id }) => id).toSorted())
  })

  it('own each file of source once, of every part of a monorepo', () => {
    const { slices, counts } = cut(monorepo)
    const owned = slices.flatMap(({ ownedFiles }) => ownedFiles.map(({ path }) => path))
    expect(new Set(owned).size).toBe(owned.length)
    expect(counts).toEqual({ files: Object.keys(monorepo).length, owned: owned.length, tests: 2, leftOut: {} })
    expect(slices.map(({ source, title }) => `${source}: ${title}`).sort()).toEqual([
      'deterministic-config: Configuration .',
      'deterministic-config: Configuration packages',
      'deterministic-generic-directory: Directory db',
      'deterministic-go-package: Go package cmd',
      'deterministic-go-package: Go package internal/auth',
      'deterministic-node-package: Node package packages/api',
      'deterministic-node-package: Node package packages/db',
      'deterministic-node-routes: Node routes packages/api pages',
      'deterministic-python-package: Python package bin',
      'deterministic-python-package: Python package tools/report',
      'deterministic-python-package: Python package tools/shared',
      'deterministic-scripts: Scripts scripts',
      'deterministic-source-package: Java files src/main/java/com/shop',
      'deterministic-workflows: CI workflows',
    ])
  })

  it('show what their files import, who imports them, where they are entered, and their tests', () => {
    const { slices } = cut(monorepo)
    const find = (title: string) => slices.find((slice) => slice.title === title)
    const contextOf = (title: string) => find(title)?.contextFiles?.map(({ path }) => path)
    expect(contextOf('Node package packages/api')).toEqual(['packages/db/src/index.ts'])
    expect(contextOf('Node package packages/db')).toEqual(['packages/api/src/server.ts'])
    expect(contextOf('Go package cmd')).toEqual(['internal/auth/auth.go'])
    expect(contextOf('Python package tools/report')).toEqual(['tools/shared/paths.py'])
    expect(find('Node package packages/api')).toMatchObject({
      id: sliceId('shop', 'deterministic-node-package', 'Node package packages/api'),
      entrypoints: [
        { path: 'packages/api/src/page.ts', symbol: 'html' },
        { path: 'packages/api/src/server.ts', route: '/users/:id' },
      ],
      tests: [{ path: 'packages/api/src/server.test.ts', command: 'npm run test' }],
    })
    expect(find('Go package internal/auth')?.tests).toEqual([
      { path: 'internal/auth/auth_test.go', command: 'go test ./internal/auth' },
    ])
    expect(find('Java files src/main/java/com/shop')?.entrypoints?.[0]).toMatchObject({ route: '/pay', symbol: 'Pay' })
  })

  it('keep the paths of the repository when only a folder of it is cut', () => {
    const { slices, counts } = cut(monorepo, { subPath: './packages/db/' })
    expect(slices.flatMap(({ ownedFiles }) => ownedFiles.map(({ path }) => path)).sort()).toEqual([
      'packages/db/package.json',
      'packages/db/src/index.ts',
    ])
    expect(counts.files).toBe(2)
  })

  it('have as many files and bytes as their caps say, and the others in further parts', () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`lib/f${at}.py`, `x = ${at}\n`]))
    const parts = cut(many).slices.filter(({ title }) => title.startsWith('Python package lib'))
    expect(parts.map(({ title }) => title).sort()).toEqual(
      [1, 2, 3].map((part) => `Python package lib (part ${part}/3)`),
    )
    expect(parts.every(({ ownedFiles }) => ownedFiles.length <= sliceCaps.owned)).toBe(true)
  })

  it('cut a large file into parts without a gap', () => {
    const line = `${'x'.repeat(79)}\n`
    const { slices } = cut({ 'lib/big.py': line.repeat(3000), 'lib/small.py': 'y = 1\n' })
    const pieces = slices.flatMap(({ ownedFiles }) => ownedFiles).filter(({ path }) => path === 'lib/big.py')
    const sorted = pieces.toSorted((a, b) => (a.startLine ?? 0) - (b.startLine ?? 0))
    expect(sorted.length).toBeGreaterThan(2)
    expect(sorted[0]?.startLine).toBe(1)
    expect(sorted.at(-1)?.endLine).toBe(3000)
    for (const [at, piece] of sorted.slice(1).entries()) expect(piece.startLine).toBe((sorted[at]?.endLine ?? 0) + 1)
  })
})

describe('what is left out', () => {
  const { counts, leftOut } = cut({
    'node_modules/left-pad/index.js': 'x',
    'vendor/lib/lib.go': 'package lib\n',
    'dist/app.js': 'x',
    'api/service.pb.go': 'package api\n',
    'static/app.js': `var a="${'x'.repeat(40_000)}"`,
    'package-lock.json': '{}',
    '.env.production': 'KEY=1',
    'deploy/secrets/values.yaml': 'a: 1',
    'assets/logo.py': Buffer.from([0x89, 0, 1, 2]),
    'models/net.py': 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n',
    'notes.txt': 'hello',
    'page.html': '<p>hello</p>',
    LICENSE: 'free',
    'big.py': 'x'.repeat(maxSourceBytes + 1),
  })

  it('is counted, with a reason for each file', () => {
    expect(counts.owned).toBe(0)
    expect(counts.leftOut).toEqual({
      binary: 1,
      generated: 3,
      'lfs-pointer': 1,
      'lock-file': 1,
      'not-source': 3,
      secret: 2,
      'too-large': 1,
      vendored: 2,
    })
    expect(leftOut).toHaveLength(counts.files)
  })

  it('is not what only says that it is generated, is called by what it deals with, or lies in a folder for programs', () => {
    const tree = {
      'pkg/token.go': '// Code generated by a tool. DO NOT EDIT.\npackage pkg\n',
      'src/secrets/password-store.py': 'def find(): pass\n',
      'bin/serve.py': 'x = 1\n',
      'views/page.html': '<p>{{ name }}</p>',
      '.gitattributes': '*.go linguist-generated\n',
      'lib/padded.py': `${'x = 1\n'.repeat(30)}# ${'y'.repeat(60_000)}\n`,
    }
    expect(cut(tree).counts).toMatchObject({ owned: 5, leftOut: { 'not-source': 1 } })
  })

  it('is no file with the name of a test that other code runs', () => {
    const tree = {
      'src/app.js': "require('./test/hook')\n",
      'src/test/hook.js': "require('./deep')\n",
      'src/test/deep.js': '',
      'src/test/other.js': '',
    }
    expect(ownedBy(tree, 'Directory src').sort()).toEqual(['src/app.js', 'src/test/deep.js', 'src/test/hook.js'])
    expect(cut(tree).counts.tests).toBe(1)
  })

  it('is no link and no submodule that is followed', () => {
    const reading = startReading([
      { path: 'a.py', bytes: 10, kind: 'link' },
      { path: 'sub', bytes: 0, kind: 'submodule' },
      { path: 'b.py', bytes: 3, kind: 'file' },
    ])
    expect(reading.wanted).toEqual(['b.py'])
    reading.take('b.py', undefined)
    expect(reading.cut('x').counts.leftOut).toEqual({ link: 1, submodule: 1, unreadable: 1 })
  })
})

describe('odd encodings', () => {
  it.each([
    ['UTF-16, little-endian', Buffer.from('\uFEFFdef start():\n  pass\n', 'utf16le')],
    ['Latin-1', Buffer.from('# caf\xe9\ndef start():\n  pass\n', 'latin1')],
    ['UTF-8 with a mark', Buffer.from('\uFEFFdef start():\n  pass\n')],
  ])('are read: %s', (_name, content) => {
    expect(readFileFacts('a.py', content)).toMatchObject({ language: 'python' })
  })
})

describe('a removed file', () => {
  it('touches who imported it, and its folder', () => {
    const tree = { 'app/web.py': 'from lib import guard\n', 'lib/other.py': 'x = 1\n', 'jobs/run.py': 'y = 1\n' }
    const { slices, bereft } = cut(tree, { removed: ['lib/guard.py'] })
    const touched = slices.filter(({ id }) => bereft.has(id)).map(({ title }) => title)
    expect(touched.sort()).toEqual(['Python package app', 'Python package lib'])
  })
})
