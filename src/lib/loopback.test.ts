import { expect, it } from 'vitest'
import { isLoopbackHost } from './loopback.ts'

it.each(['localhost', '127.0.0.1', '127.8.9.1', '::1'])('%s is this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(true)
})

it.each(['0.0.0.0', '::', '127.example.com', 'localhost.example.com', '10.0.0.1', ''])('%s is not', (host) => {
  expect(isLoopbackHost(host)).toBe(false)
})
