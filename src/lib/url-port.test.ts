import { expect, it } from 'vitest'
import { portOf } from './url-port.ts'

it.each([
  ['http://a.example', 80],
  ['https://a.example/', 443],
  ['https://a.example:8443', 8443],
])('%s leads to port %i', (address, port) => expect(portOf(new URL(address))).toBe(port))
