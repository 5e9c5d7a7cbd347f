import type { Config } from '../../kernel/config/settings.ts'
import { systemClock } from '../../kernel/time.ts'
import { durationOf, restoreArchive, verifyArchive } from '../operator/archives.ts'
import { restoreBackup } from '../operator/backup.ts'
import { type CommandResult, failed } from '../operator/command-result.ts'
import { printNote } from './terminal.ts'

const isArchive = (path: string): boolean => path.endsWith('.age')

/** `berth backup verify [archive]`: restores an archive into a scratch folder and checks it. */
export async function verify(config: Config, [file, ...more]: string[]): Promise<CommandResult> {
  return more.length > 0
    ? failed('usage: berth backup verify [archive]')
    : verifyArchive(config, systemClock, file)
}

/** `berth restore`: replaces the data folder with a backup. */
export async function restore(config: Config, [from, ...more]: string[]): Promise<CommandResult> {
  if (!from || more.length > 0) {
    return failed('usage: berth restore <folder | archive | newest> [--data ./data]')
  }
  if (from === 'newest') return restoreArchive(config, systemClock, undefined)
  return isArchive(from)
    ? restoreArchive(config, systemClock, from)
    : restoreBackup(config, from, systemClock)
}

/** Runs backups until Ctrl-C. A failure is printed, and the next one runs at its time. */
export async function backUpEvery(every: string, run: () => Promise<void>): Promise<never> {
  for (;;) {
    await run().catch((error: unknown) => printNote(String(error)))
    await Bun.sleep(durationOf(every))
  }
}
