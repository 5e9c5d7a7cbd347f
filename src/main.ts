import { hostWorker } from './kernel/worker-host.ts'
import { runCommandLine } from './server/cli/command-line.ts'

async function main(): Promise<void> {
  // New files are for their owner alone, also in a folder that others may enter.
  process.umask(0o077)
  if (Bun.argv[2] === 'worker') return hostWorker()
  const exitCode = await runCommandLine(Bun.argv.slice(2))
  if (exitCode !== undefined) process.exit(exitCode)
}

await main()
