import { parseArguments } from './server/cli/arguments.ts'
import { run } from './server/cli/commands.ts'
import { type CommandResult, failedWith } from './server/operator/command-result.ts'

/** Prints a result, on stdout for a success and on stderr for a failure, and ends the process. */
async function exitWith({ ok, text }: CommandResult): Promise<never> {
  const out = ok ? process.stdout : process.stderr
  // A pipe takes a long text in parts, so the process waits until all of it is written.
  await new Promise<unknown>((written) => out.write(`${text}\n`, written))
  process.exit(ok ? 0 : 1)
}

async function main(): Promise<void> {
  // New files are for their owner alone, also in a folder that others may enter.
  process.umask(0o077)
  if (Bun.argv[2] === 'worker') return (await import('./kernel/worker-host.ts')).hostWorker()
  const result = await run(parseArguments())
  if (result) await exitWith(result)
}

main().catch((error: unknown) => exitWith(failedWith(error)))
