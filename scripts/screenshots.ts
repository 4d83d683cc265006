/**
 * Pictures of every page of the dashboard, wide and narrow, light and dark, from either side, of a real service with something
 * of everything.
 *
 *   npm run screenshots [-- FOLDER [WORD]]     default: tmp/screenshots; WORD: only addresses with it
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { layBuiltProgram } from '../test/fixtures/built-program.ts'
import { closeBrowser, looks, openDashboard, settle } from '../test/fixtures/dashboard/browser.ts'

const [folder = join(import.meta.dirname, '..', 'tmp', 'screenshots'), word = ''] = process.argv.slice(2)

const nameOf = (address: string) => address.replace(/\W+/g, '-').replace(/^-|-$/g, '') || 'overview'

const program = mkdtempSync(join(tmpdir(), 'svc-built-'))
await layBuiltProgram(program)
process.env.SVC_TEST_PROGRAM = program
// These read where the program lies when they are loaded.
const { startFilledService } = await import('../test/fixtures/dashboard/filled-service.ts')
const { removeFolder } = await import('../test/scenarios/service.ts')
const { service, addresses } = await startFilledService()
try {
  mkdirSync(folder, { recursive: true })
  for (const look of looks) {
    const { page, context } = await openDashboard(service, look)
    for (const address of addresses.filter((one) => one.includes(word))) {
      await page.goto(address)
      await settle(page)
      const path = join(folder, `${nameOf(address)}-${look.width}-${look.theme}-${look.direction}.png`)
      await page.screenshot({ path })
      process.stdout.write(`${path}\n`)
    }
    await context.close()
  }
} finally {
  await closeBrowser()
  await service.stop()
  removeFolder(service.folder)
  rmSync(program, { recursive: true, force: true })
}
