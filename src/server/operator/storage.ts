import type { AppContext } from '../context.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { listReferenced } from './referenced-files.ts'

const missingShownMax = 20
const atOnce = 16

/** `berth storage check`: finds every file that a row references, and brings deleted ones back. */
export async function storage(ctx: AppContext, words: string[]): Promise<CommandResult> {
  if (words.join(' ') !== 'check') return failed('usage: berth storage check | berth storage copy')
  return ctx.state.fileWork.run(() => checkFiles(ctx))
}

/**
 * Checks that the storage has every referenced file. Files that are missing from a bucket come back
 * from its trash or, in a bucket with versions, from an older version.
 */
async function checkFiles({ db, storage }: AppContext): Promise<CommandResult> {
  const missing: string[] = []
  let [files, recovered] = [0, 0]
  for await (const names of listReferenced(db.read)) {
    files += names.length
    for (let at = 0; at < names.length; at += atOnce) {
      const some = names.slice(at, at + atOnce)
      const states = await Promise.all(some.map(async (name) => storage.recover(name)))
      recovered += states.filter((state) => state === 'recovered').length
      missing.push(...some.filter((_, index) => states[index] === 'missing'))
    }
  }
  const back = recovered > 0 ? ` ${recovered} of them were deleted and are back.` : ''
  if (missing.length === 0) {
    return succeeded(`The storage has all ${files} files that the database references.${back}`)
  }
  return failed(
    [
      `The storage lacks ${missing.length} of ${files} files that the database references.${back}`,
      'Restore the data folder or the bucket from a backup, then run this command again. Missing:',
      ...missing.slice(0, missingShownMax),
      ...(missing.length > missingShownMax ? ['…'] : []),
    ].join('\n'),
  )
}
