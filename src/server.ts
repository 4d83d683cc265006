// The service alone, for containers: what `svc up` does.
import { main } from './compose/cli.ts'

process.exitCode = await main(['up', ...process.argv.slice(2)])
