import { describe, expect, it } from 'vitest'
import { describeTraffic, type HostSum, learnHosts, sumHosts } from './network-traffic.ts'

const line = (host: string, parts: Partial<HostSum> = {}): HostSum => ({
  host,
  port: 443,
  connections: 0,
  refused: 0,
  unlisted: 0,
  sent: 0,
  received: 0,
  firstAt: '2030-01-01T00:00:01Z',
  lastAt: '2030-01-01T00:00:02Z',
  ...parts,
})

it('says what was reached, the most first, and what was refused', () => {
  expect(
    describeTraffic([
      line('a.example', { connections: 1, sent: 10, received: 999 }),
      line('b.example', { connections: 2, sent: 1500, received: 2_500_000 }),
      line('c.example', { refused: 3 }),
    ]),
  ).toBe(
    'reached b.example:443 (2 connections, 1.5 KiB sent, 2.4 MiB received), a.example:443 (1 connection, 10 B sent, 999 B received); refused c.example:443 (3 times)',
  )
  const many = Array.from({ length: 25 }, (_none, at) => line(`h${at}.example`, { refused: 1 }))
  expect(describeTraffic(many)).toMatch(/^refused h0.*, 5 more$/)
})

it('adds up attempts, with the first and the last time and the reason of the newest refusal', () => {
  const sums = sumHosts([
    line('b.example', { refused: 1, reason: 'newer', lastAt: '2030-01-03T00:00:00Z' }),
    line('a.example', { connections: 1, sent: 5 }),
    line('b.example', { refused: 2, unlisted: 2, reason: 'older', firstAt: '2029-01-01T00:00:00Z' }),
    line('a.example', { port: 80, connections: 2 }),
    line('a.example', { connections: 1, received: 7, lastAt: '2030-01-09T00:00:00Z' }),
  ])
  expect(sums).toEqual([
    line('a.example', { connections: 2, sent: 5, received: 7, lastAt: '2030-01-09T00:00:00Z' }),
    line('a.example', { port: 80, connections: 2 }),
    line('b.example', {
      refused: 3,
      unlisted: 2,
      reason: 'newer',
      firstAt: '2029-01-01T00:00:00Z',
      lastAt: '2030-01-03T00:00:00Z',
    }),
  ])
  expect(sumHosts([])).toEqual([])
})

describe('a list that is learned', () => {
  const learn = (sums: HostSum[], declined: string[] = []) =>
    learnHosts(sums, { ports: [80, 443], declined: new Set(declined) })

  it('has what was reached and what was asked for in vain, and a port only where it has to be named', () => {
    const sums = [
      line('pypi.org', { connections: 1 }),
      line('pypi.org', { port: 80, connections: 1 }),
      line('db.example', { port: 5432, unlisted: 1, refused: 1 }),
      line('93.184.216.34', { connections: 1 }),
      line('2606:4700::1111', { port: 8443, connections: 1 }),
      line('listed.example', { refused: 4, reason: 'the TLS greeting names another host' }),
    ]
    expect(learn(sums)).toEqual(['93.184.216.34', '[2606:4700::1111]:8443', 'db.example:5432', 'pypi.org'])
  })

  it.each([
    ...['localhost', 'a.localhost', 'printer.local', 'git.corp', 'db.svc', 'intern', 'metadata.google.internal'],
    ...['metadata.goog', '127.0.0.1', '10.0.0.1', '169.254.169.254', '100.100.100.200', '0.0.0.0', '::1', 'fd00::1'],
    ...['fe80::1', '64:ff9b::7f00:1', '*'],
  ])('never has %s, even if it was reached', (host) =>
    expect(learn([line(host, { connections: 1, unlisted: 1, refused: 1 })])).toEqual([]),
  )

  it('has nothing that a person has declined, and no more than a list takes', () => {
    expect(learn([line('a.example', { unlisted: 1, refused: 1 })], ['a.example:443'])).toEqual([])
    const many = Array.from({ length: 300 }, (_none, at) => line(`h${at}.example`, { connections: 1 }))
    expect(learn(many)).toHaveLength(200)
  })
})
