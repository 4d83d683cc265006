import { expect, it } from 'vitest'
import { readGitAddress } from './git-address.ts'

it.each([
  ['http://a.example:8080/b/?q=1#c', 'http://a.example:8080/b'],
  ['https://A.example/owner/b.git', 'https://a.example/owner/b.git'],
  ['git@a.example:owner/b.git', 'https://a.example/owner/b.git'],
  ['git@a.example:/srv/b.git', 'https://a.example/srv/b.git'],
  ['ssh://git@a.example:22/owner/b', 'https://a.example/owner/b'],
])('%s is dialled as %s', (text, dialled) => expect(readGitAddress(text)?.href).toBe(dialled))

it.each([
  'https://me:secret@a.example/b',
  'https://token@a.example/b',
  'ssh://git:secret@a.example/b',
  'git://a.example/b',
  'file:///srv/b',
  'ext::sh -c x',
  '--upload-pack=x@h:y',
  'me@evil.example@a.example:b',
  'https://a.example/b c',
  'b',
])('%s is refused', (text) => expect(readGitAddress(text)).toBeUndefined())
