// The command line `svc`.
import { main } from './compose/cli.ts'

process.exitCode = await main(process.argv.slice(2))
