import { describe, expect, it } from 'vitest'
import { inferVendor } from './vendor-type.ts'

describe('the vendor of a key', () => {
  it.each([
    [{ variable: 'ANTHROPIC_API_KEY', key: 'x' }, 'llma'],
    [{ variable: 'VENDOR_API_KEY', key: 'x' }, 'llma'],
    [{ variable: 'MY_KEY', key: 'sk-ant-api03-x' }, 'llma'],
    [{ variable: 'OPENAI_API_KEY', key: 'sk-ant-x' }, 'llma'],
    [{ variable: 'OPENAI_API_KEY', key: 'x' }, 'llmo'],
    [{ variable: 'MY_KEY', key: 'sk-proj-x' }, 'llmo'],
    [{ baseUrl: 'http://127.0.0.1:11434/v1' }, 'llmo'],
    [{ baseUrl: 'https://api.anthropic.com' }, 'llma'],
    [{ variable: 'ANTHROPIC_API_KEY', key: 'sk-x', baseUrl: 'https://gateway.example/v1' }, 'llmo'],
    [{ variable: 'AZURE_OPENAI_API_KEY', key: 'x' }, undefined],
    [{ variable: 'MY_KEY', key: 'x' }, undefined],
    [{ variable: 'MY_KEY', key: 'sk-x', baseUrl: 'https://gateway.example/api' }, undefined],
    [{}, undefined],
  ])('%j is %s', (clues, type) => {
    expect(inferVendor(clues)).toBe(type)
  })
})
