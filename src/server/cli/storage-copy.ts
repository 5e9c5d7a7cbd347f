import type { Config } from '../../kernel/config/settings.ts'
import { openEngine } from '../../kernel/db/open.ts'
import { systemClock } from '../../kernel/time.ts'
import { FolderInUse, lockFolder } from '../../store/folder-lock.ts'
import { moveFiles } from '../../store/place.ts'
import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'

const needsBucket =
  'berth storage copy copies the files of the data folder into a bucket. Set S3_ENDPOINT, ' +
  'S3_BUCKET, S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY of the bucket first.'

/**
 * Copies the files of the data folder into the bucket of the settings. It may run beside a server
 * and be repeated: files that are there are skipped. Without a server on the folder, the bucket
 * then becomes the place of the files.
 */
export async function storageCopy(config: Config): Promise<CommandResult> {
  if (config.s3Bucket === '') return failed(needsBucket)
  const unlock = tryLock(config.dataDir)
  try {
    const { copyToBucket } = await import('../../store/s3/copy.ts')
    const { copied, skipped, damaged } = await copyToBucket(config, { clock: systemClock })
    const counts = `${copied} files copied, ${skipped} were in the bucket already.`
    if (damaged.length > 0) {
      const list = damaged.slice(0, 20).join('\n')
      return failed(
        `${counts} ${damaged.length} files are damaged and were not copied: their content differs ` +
          `from their name. Restore them from a backup:\n${list}`,
      )
    }
    if (!unlock) {
      return succeeded(
        `${counts} A server uses the data folder: stop it and run this command again, which copies ` +
          'only what is new.',
      )
    }
    const db = await openEngine(config)
    await moveFiles(db, config).finally(() => db.close())
    return succeeded(`${counts} Start the server with the same settings: it uses the bucket now.`)
  } finally {
    unlock?.()
  }
}

/** Locks the data folder; undefined while a server uses it. */
function tryLock(dataDir: string): (() => void) | undefined {
  try {
    return lockFolder(dataDir)
  } catch (error) {
    if (error instanceof FolderInUse) return undefined
    throw error
  }
}
