/** Work on one backup of the data folder. `since` is milliseconds since 1970. */
export interface RunningWork {
  what: 'made' | 'checked'
  name: string
  since: number
}

/** The work on a backup that runs now, and how the last work on each backup ended, by its name. */
export class BackupWork {
  running: RunningWork | undefined
  readonly results = new Map<string, { ok: boolean; text: string }>()
}
