/** Work on one backup of the data folder. `since` is milliseconds since 1970. */
export interface RunningWork {
  what: 'made' | 'checked' | 'archived' | 'restored'
  name: string
  since: number
}

interface WorkResult {
  ok: boolean
  text: string
}

/** The work on a backup that runs now, and how the last work on each backup ended, by its name. */
export class BackupWork {
  running: RunningWork | undefined
  readonly results = new Map<string, WorkResult>()
  /** Stops the server and starts it again with restored data; undefined where nothing can. */
  restart: (() => void) | undefined
  /** The last attempt to write an encrypted backup to BACKUP_TO, and its result. */
  lastArchive: (WorkResult & { at: number }) | undefined
}
