import { expect, it } from 'vitest'
import { recordContext } from '../../../../test/fixtures/cli/recording-context.ts'
import { runCommandLine } from '../../program.ts'

async function create(status: object) {
  const agent = { metadata: { name: 'coder', namespace: 'default' }, spec: {}, status }
  const answers = { 'POST /api/v1/agents': () => agent, 'GET /api/v1/agents/:name': () => agent }
  const recording = recordContext({ answers })
  const code = await runCommandLine(['agent', 'create', 'coder', '--model', 'mian/large'], recording.context)
  return { code, noted: recording.noted() }
}

it('says of a new agent why it is not ready', async () => {
  const conditions = [{ type: 'Ready', message: 'provider "main" is not ready' }]
  const { code, noted } = await create({ ready: false, conditions })
  expect(code).toBe(0)
  expect(noted).toContain('it is not ready: provider "main" is not ready')
})

it('says of a new agent that is ready what its model may have meant', async () => {
  const warning = { type: 'ModelNameWarning', message: 'did you mean "main/large"?' }
  const { code, noted } = await create({ ready: true, conditions: [{ type: 'Ready', message: 'all there' }, warning] })
  expect(code).toBe(0)
  expect(noted).toMatch(/did you mean "main\/large"\?\ntry it: .*run --agent coder/)
  expect(noted).not.toContain('all there')
})
