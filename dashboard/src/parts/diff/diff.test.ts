import { describe, expect, it } from 'vitest'
import { parseDiff } from './diff.ts'

const changed = [
  'diff --git a/src/main.txt b/src/main.txt',
  'index 5626abf..814f4a4 100644',
  '--- a/src/main.txt',
  '+++ b/src/main.txt',
  '@@ -1,3 +1,4 @@ heading',
  ' one',
  '--- two',
  '+++ two',
  '+three',
  ' four',
  '\\ No newline at end of file',
]

describe('reading a diff', () => {
  it('numbers the lines, and takes those that look like heads for what they are', () => {
    const [file] = parseDiff(changed.join('\n'))
    expect(file).toMatchObject({ path: 'src/main.txt', change: 'changed', added: 2, removed: 1 })
    expect(file?.hunks[0]?.head).toBe('@@ -1,3 +1,4 @@ heading')
    expect(file?.hunks[0]?.lines).toEqual([
      { sign: ' ', text: 'one', before: 1, after: 1 },
      { sign: '-', text: '-- two', before: 2 },
      { sign: '+', text: '++ two', after: 2 },
      { sign: '+', text: 'three', after: 3 },
      { sign: ' ', text: 'four', before: 3, after: 4 },
      { sign: '\\', text: 'No newline at end of file' },
    ])
  })

  it('tells files that are new, removed, renamed and binary', () => {
    const files = parseDiff(
      [
        'diff --git a/new.txt b/new.txt',
        'new file mode 100644',
        '--- /dev/null',
        '+++ b/new.txt',
        '@@ -0,0 +1 @@',
        '+hello',
        'diff --git a/old.txt b/old.txt',
        'deleted file mode 100644',
        '--- a/old.txt',
        '+++ /dev/null',
        '@@ -1 +0,0 @@',
        '-bye',
        'diff --git a/a name.txt b/b name.txt',
        'similarity index 100%',
        'rename from a name.txt',
        'rename to b name.txt',
        'diff --git a/logo.png b/logo.png',
        'index 1..2 100644',
        'Binary files a/logo.png and b/logo.png differ',
        '',
      ].join('\n'),
    )
    expect(
      files.map(({ path, oldPath, change, isBinary, added, removed }) => ({
        path,
        oldPath,
        change,
        isBinary,
        added,
        removed,
      })),
    ).toEqual([
      { path: 'new.txt', oldPath: undefined, change: 'added', isBinary: false, added: 1, removed: 0 },
      { path: 'old.txt', oldPath: undefined, change: 'removed', isBinary: false, added: 0, removed: 1 },
      { path: 'b name.txt', oldPath: 'a name.txt', change: 'renamed', isBinary: false, added: 0, removed: 0 },
      { path: 'logo.png', oldPath: undefined, change: 'changed', isBinary: true, added: 0, removed: 0 },
    ])
  })

  it('reads paths that git quotes, and diffs without its heads', () => {
    const quoted = 'diff --git "a/gr\\303\\274n \\"x\\".txt" "b/gr\\303\\274n \\"x\\".txt"\nnew file mode 100644'
    expect(parseDiff(quoted)[0]?.path).toBe('grün "x".txt')
    const bare = '--- a/one\n+++ b/one\n@@ -1 +1 @@\n-a\n+b\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-a\n+b\n'
    expect(parseDiff(bare).map(({ path }) => path)).toEqual(['one', 'two'])
  })

  it('has no files where there is no diff', () => {
    expect([parseDiff(''), parseDiff('just a text\n@@ odd')]).toEqual([[], []])
  })
})
