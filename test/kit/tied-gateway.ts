/** `graphwright gateway` as the binary starts it; ends with its standard input. Environment: what the binary takes. */
import { flushCompileCache } from 'node:module'
import { run } from '../../src/bin/gateway.ts'

flushCompileCache()
process.stdin.resume().on('end', () => process.exit(0))
await run(process.argv.slice(2))
