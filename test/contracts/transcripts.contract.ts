// What every search in transcripts does, before its index has a message and afterwards.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { NewMessage, TranscriptQuery } from '../../src/ports/chat/sessions.ts'
import { hardTexts, type OpenBench, useBench } from './record-bench.ts'

export function describeTranscripts(name: string, open: OpenBench): void {
  describe(`transcript search on ${name}`, () => {
    const bench = useBench(open, { beforeEach, afterEach })
    const sessions = () => bench().stores().sessions
    const transcripts = () => bench().stores().transcripts

    async function say(session: string, messages: (string | NewMessage)[], namespace = 'default') {
      const key = { namespace, name: session }
      await sessions().ensure(key, { create: true, sessionType: 'chat' })
      await sessions().append(
        key,
        messages.map((message) => (typeof message === 'string' ? { role: 'user', content: message } : message)),
      )
      return key
    }
    async function index() {
      while (await transcripts().index());
      expect(await transcripts().countUnindexed()).toBe(0)
    }
    const search = (terms: string[], more: Partial<TranscriptQuery> = {}) =>
      transcripts().search({ terms, namespace: 'default', limit: 50, maxSnippetLength: 360, ...more })
    const snippets = async (terms: string[], more: Partial<TranscriptQuery> = {}) =>
      (await search(terms, more)).map(({ snippet }) => snippet)

    /** Runs the check twice: with messages that only the sessions have, then with the index complete. */
    async function both(check: () => Promise<void>) {
      await check()
      await index()
      await check()
    }

    it('finds messages with all terms, in any case, within words and in any script', async () => {
      await say('talk', ['The Deploy failed at NOON', 'deploy later', '数据库配置已更新', 'ΟΔΟΣ', 'see redeploying.ts'])
      await both(async () => {
        expect(await snippets(['deploy', 'FAILED'])).toEqual(['The Deploy failed at NOON'])
        expect((await snippets(['deploy'])).sort()).toEqual([
          'The Deploy failed at NOON',
          'deploy later',
          'see redeploying.ts',
        ])
        expect(await snippets(['配置'])).toEqual(['数据库配置已更新'])
        expect(await snippets(['置'])).toEqual(['数据库配置已更新'])
        expect(await snippets(['οδοσ'])).toEqual(['ΟΔΟΣ'])
        expect(await snippets(['ts'])).toEqual(['see redeploying.ts'])
        expect(await snippets(['z'])).toEqual([])
        expect(await snippets(['deploy', 'never said'])).toEqual([])
      })
    })

    it('finds phrases, whatever blanks are in them', async () => {
      await say('talk', ['run the tests now', 'the\n  tests ran', 'tests of the kind'])
      await both(async () => {
        expect((await snippets(['the tests'])).sort()).toEqual(['run the tests now', 'the\n  tests ran'])
        expect(await snippets(['the  tests  now'])).toEqual(['run the tests now'])
      })
    })

    it('describes what it found', async () => {
      const ts = '2026-01-02T03:04:05.678Z'
      await say('talk', ['hello', { role: 'tool', name: 'find', content: 'needle', ts, toolCallID: 'c1' }])
      await both(async () => {
        expect(await search(['needle'])).toEqual([
          {
            namespace: 'default',
            sessionName: 'talk',
            messageId: 2,
            role: 'tool',
            name: 'find',
            snippet: 'needle',
            createdAt: ts,
          },
        ])
      })
    })

    it('searches one namespace, some or all, one session, all but one, and some roles', async () => {
      await say('a', ['word of a', { role: 'assistant', content: 'word back' }])
      await say('b', ['word of b'])
      await say('a', ['word of another'], 'other')
      await both(async () => {
        const places = async (more: Partial<TranscriptQuery>) =>
          (await transcripts().search({ terms: ['word'], limit: 50, maxSnippetLength: 99, ...more }))
            .map(({ namespace, sessionName, role }) => `${namespace}/${sessionName} ${role}`)
            .sort()
        const here = { namespace: 'default' }
        expect(await places({})).toHaveLength(4)
        expect(await places({ namespaces: ['other'] })).toEqual(['other/a user'])
        expect(await places({ namespaces: [] })).toEqual([])
        expect(await places({ ...here, sessionName: 'b' })).toEqual(['default/b user'])
        expect(await places({ ...here, excludeSessionName: 'a' })).toEqual(['default/b user'])
        expect(await places({ ...here, roles: ['assistant'] })).toEqual(['default/a assistant'])
        expect(await places({ ...here, roles: ['tool', 'system'] })).toEqual([])
      })
    })

    it('puts the better match first, and the newer of equal ones', async () => {
      const at = (second: number) => `2026-01-02T03:04:0${second}.000Z`
      await say('talk', [
        { role: 'user', content: 'apple, once', ts: at(1) },
        { role: 'user', content: `apple ${'and other things '.repeat(40)}`, ts: at(4) },
        { role: 'user', content: 'apple, twice: apple', ts: at(2) },
        { role: 'user', content: 'pineapples on', ts: at(5) },
        { role: 'user', content: 'apple, once', ts: at(3) },
      ])
      await both(async () => {
        const found = await search(['apple'])
        expect(found.map(({ messageId }) => messageId)).toEqual([3, 5, 1, 4, 2])
        expect(await search(['apple'], { limit: 2 })).toEqual(found.slice(0, 2))
      })
    })

    it('shows the text around the first place', async () => {
      await say('talk', [`${'😀'.repeat(500)} needle ${'x'.repeat(500)}`])
      await both(async () => {
        const [snippet = ''] = await snippets(['needle'], { maxSnippetLength: 101 })
        expect(snippet).toMatch(/^…😀+ needle x+…$/u)
        expect(snippet.length).toBeLessThanOrEqual(101)
        expect(snippet.isWellFormed()).toBe(true)
      })
    })

    it('finds every hard text by any of its parts, and takes any query', async () => {
      await say('talk', hardTexts)
      await both(async () => {
        for (const text of hardTexts) expect(await snippets([text])).toContain(text)
        const hostile = [
          '"',
          "'; drop table sessions; --",
          'NEAR(a b)',
          'a OR b',
          '*',
          '(',
          'grams:1',
          '\\',
          '%',
          '_',
          '?',
        ]
        for (const term of [...hostile, '\0', '\ud800', 'x'.repeat(100_000), '^', '{1}', '[a', 'a'.repeat(3)]) {
          expect(Array.isArray(await search([term]))).toBe(true)
        }
        expect(await snippets(['\0'])).toEqual(expect.arrayContaining(['a\0b', '\0']))
        expect(await snippets(['$1 %s'])).toEqual([hardTexts.at(-1)])
      })
    })

    it('forgets what was replaced or removed, and finds what came instead', async () => {
      const key = await say('talk', ['old one', 'old two', 'late'])
      await say('gone', ['old three'])
      await index()
      await sessions().compact(key, 2, [{ role: 'user', content: 'summary of both' }])
      await sessions().remove({ ...key, name: 'gone' })
      await both(async () => {
        expect(await snippets(['old'])).toEqual([])
        expect(await snippets(['summary'])).toEqual(['summary of both'])
        expect(await snippets(['late'])).toEqual(['late'])
      })
      await say('gone', ['new three'])
      await both(async () => expect(await snippets(['three'])).toEqual(['new three']))
    })

    it('does not find a session whose retention time is over', async () => {
      const key = await say('bounded', ['needle'])
      await sessions().lock(key, 'task-1')
      await sessions().unlock(key, 'task-1', { expiresAt: new Date(bench().now().getTime() + 1000) })
      await both(async () => expect(await snippets(['needle'])).toEqual(['needle']))
      bench().advance(1000)
      expect(await snippets(['needle'])).toEqual([])
    })

    it('finds each of many messages, also while they are written and indexed', async () => {
      const writing = Array.from({ length: 150 }, async (_, number) => {
        await say(`talk-${number % 7}`, [`message number-${number}-`, 'x'.repeat(40_000)])
        if (number % 10 === 0) await transcripts().index()
      })
      await Promise.all(writing)
      await both(async () => {
        for (let number = 0; number < 150; number += 1) {
          expect(await snippets([`number-${number}-`])).toEqual([`message number-${number}-`])
        }
      })
      await bench().reopen()
      expect(await snippets(['number-149-'])).toEqual(['message number-149-'])
      expect(await search(['message'], { limit: 50 })).toHaveLength(50)
    })

    it('searches again what could not be indexed', async () => {
      await say('talk', ['needle'])
      bench().faults.writes = 'fail'
      await expect(transcripts().index()).rejects.toThrow('the process died')
      bench().faults.writes = 'work'
      expect(await transcripts().countUnindexed()).toBe(1)
      await both(async () => expect(await snippets(['needle'])).toEqual(['needle']))
    })
  })
}
