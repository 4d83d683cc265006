// Text of models is drawn as Markdown, code in colour, and lines of logs in the colours of terminals.
import { describe, expect, it } from 'vitest'
import { chromiumPath, openDashboard, settle } from '../../fixtures/dashboard/browser.ts'
import { useService } from '../../fixtures/dashboard/dashboard-tests.ts'
import { createTask, waitForPhase } from '../../scenarios/service.ts'

const text = `## How to build

- [x] install
- [ ] test

| step | command |
|---|---|
| build | \`make\` |

\`\`\`ts
const answer = 'forty-two' // always
\`\`\`

<img src=x onerror=alert(1)>`

describe.skipIf(chromiumPath === undefined)('text of models', () => {
  const started = useService()

  it('is drawn with tables, lists of what is to be done and code in colour, and makes no elements of its own', async () => {
    const { service } = started
    await service.call('POST', '/api/v1/memories', { namespace: 'default', content: text })
    const { page, context, complaints } = await openDashboard(service)
    await page.goto('/memories')
    await settle(page)
    const memory = page.getByRole('article')
    await memory.getByRole('heading', { name: 'How to build' }).waitFor()
    await memory.getByRole('cell', { name: 'make' }).waitFor()
    expect(await memory.getByRole('checkbox', { name: 'done' }).isChecked()).toBe(true)
    expect(await memory.getByRole('checkbox', { name: 'to do' }).isChecked()).toBe(false)
    await memory.locator('[data-code=keyword]').getByText('const').waitFor()
    await memory.locator('[data-code=comment]').getByText('// always').waitFor()
    expect(await memory.getByText('<img src=x onerror=alert(1)>').count()).toBe(1)
    expect(await memory.locator('img').count()).toBe(0)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('has the colours of terminals in logs', async () => {
    const { service } = started
    const script = String.raw`printf '\033[31mno such target\033[0m and more\n'`
    await createTask(service, 'in-colour', { type: 'container', command: ['sh', '-c', script] })
    await waitForPhase(service, 'in-colour', 'Succeeded')
    const { page, context } = await openDashboard(service)
    await page.goto('/tasks/default/in-colour?tab=log')
    await page.locator('[data-ansi="1"]').getByText('no such target').waitFor()
    await context.close()
  })
})
