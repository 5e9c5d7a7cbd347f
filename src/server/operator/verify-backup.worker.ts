import { systemClock } from '../../kernel/time.ts'
import { type ArchiveConfig, verifyArchive } from './archives.ts'
import { type AfterCheck, verifyBackup } from './backup.ts'
import { failedWith } from './command-result.ts'

declare const self: Worker

/** A backup in a folder, or the newest encrypted one of the settings. */
export interface BackupCheck {
  config: ArchiveConfig
  dir: string | undefined
  stamp: string
  after: AfterCheck
}

self.onmessage = async ({ data }: MessageEvent<BackupCheck>) => {
  const { config, dir, stamp, after } = data
  const checked =
    dir === undefined
      ? verifyArchive(config, systemClock, undefined, { stamp, after })
      : verifyBackup(config.dataDir, dir, stamp, after)
  self.postMessage(await checked.catch(failedWith))
}
