import { describe, expect, it } from 'vitest'
import { recordContext } from '../../../../test/fixtures/cli/recording-context.ts'
import { runCommandLine } from '../../program.ts'

async function validate(outcome: object) {
  const answers = {
    'POST /api/v1/security/findings/:id/validate': { validationTaskName: 'shop-validation-1' },
    'GET /api/v1/security/findings/:id': { id: 'fnd_1', ...outcome },
  }
  const recording = recordContext({ answers })
  const code = await runCommandLine(['scan', 'validate', 'fnd_1', '--wait'], recording.context)
  return { code, noted: recording.noted() }
}

const summary = 'The input is a constant.'

describe('svc scan validate --wait', () => {
  it.each([
    ['validated', `finding fnd_1 validated: ${summary}`],
    ['failed', `finding fnd_1 no weakness (failed): ${summary}`],
  ])('says what was found out, and why: %s', async (validationStatus, said) => {
    const { code, noted } = await validate({ validationStatus, validationJSON: JSON.stringify({ summary }) })
    expect(noted).toContain(said)
    expect(code).toBe(0)
  })

  it('fails with the reason where nothing could be told', async () => {
    const validationJSON = JSON.stringify({ summary: 'the answer is not in the form that was asked for' })
    const { code, noted } = await validate({ validationStatus: 'skipped', validationJSON })
    expect(noted).toMatch(/fnd_1 was not validated, skipped: the answer is not in the form.*task get shop-validation-1/)
    expect(code).toBe(1)
  })
})
