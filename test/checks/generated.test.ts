// Generated files are committed; they are what the contract of this very commit prints.
import { describe, expect, it } from 'vitest'
import { findStale, printAll } from '../../scripts/generate.ts'

describe('generated files', () => {
  it('are fresh; otherwise run "npm run generate"', async () => {
    expect(await findStale()).toEqual([])
  })

  it('are one definition per kind, that of what is used elsewhere, and the OpenAPI document', async () => {
    const paths = [...(await printAll()).keys()]
    expect(paths.filter((path) => path.startsWith('deploy/crds/'))).toHaveLength(8)
    expect(paths).toContain('docs/openapi.json')
  })
})
