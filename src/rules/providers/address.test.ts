import { describe, expect, it } from 'vitest'
import { classifyUrl } from './address.ts'

const own = ['127.0.0.1:8080', '192.168.1.5:8080']

describe('the class of an address', () => {
  it.each([
    ['https://api.example.com/v1', 'name'],
    ['https://8.8.8.8', 'public'],
    ['https://[2606:4700::1111]/', 'public'],
    ['http://127.0.0.1:11434', 'private'],
    ['http://localhost:11434/v1', 'private'],
    ['http://10.1.2.3', 'private'],
    ['http://[fd12::1]', 'private'],
    ['http://172.20.1.1', 'public'],
    ['http://172.21.1.1', 'private'],
    ['http://0x7f.1/', 'private'],
    ['http://[::ffff:10.0.0.1]/', 'private'],
    ['http://169.254.169.254/latest', 'metadata'],
    ['http://[::ffff:169.254.169.254]/', 'metadata'],
    ['http://metadata.google.internal./', 'metadata'],
    ['http://127.0.0.1:8080/x', 'service'],
    ['http://localhost:8080', 'service'],
    ['http://[::1]:8080', 'service'],
    ['http://0.0.0.0:8080', 'service'],
    ['http://192.168.1.5:8080', 'service'],
  ])('%s is %s', (url, expected) => {
    expect(classifyUrl(url, own, ['172.20.0.0/16'])).toBe(expected)
  })
})
