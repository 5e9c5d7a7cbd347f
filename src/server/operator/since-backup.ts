import { join } from 'node:path'

import { deleteLinksWithout } from '../../apps/audience/links.ts'
import type { Engine } from '../../kernel/db/engine.ts'
import { databaseFile } from '../../kernel/db/open.ts'
import { openSqlite } from '../../kernel/db/sqlite.ts'
import type { Clock } from '../../kernel/time.ts'
import { revokeAsIn } from '../../money/keys/keys.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import { deleteSignInsWithout, endAllSessions } from '../../people/identities.ts'

/** A restore, as the audit log of the restored database has it. */
interface Restore {
  by: string
  /** The name of the backup. */
  item: string
}

const unreadable =
  'The previous database could not be read: keys, share links and sign-in methods that were revoked since the backup are valid again.'

const namedMax = 5

/** Returns a warning about the keys that the previous database does not have. */
function unknownKeys(prefixes: string[]): string {
  if (prefixes.length === 0) return ''
  const more = prefixes.length - namedMax
  const named = prefixes.slice(0, namedMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
  return `The previous database does not have these keys, which stay valid: ${named}. Revoke those that must not.`
}

/** Ends in `copy` what ended in the database of a file. Returns the live keys that it lacks. */
async function endAsIn(copy: Engine, file: string, now: number): Promise<string[]> {
  // A read-only connection would leave files of its own beside the database.
  const { read, close } = await openSqlite(file)
  try {
    return await copy.tx(async (db) => {
      const unknown = await revokeAsIn(db, read, now)
      await deleteLinksWithout(db, read)
      await deleteSignInsWithout(db, read)
      return unknown
    })
  } finally {
    await close()
  }
}

/**
 * Ends in the verified copy in `dir` what a backup must not bring back: all sessions, and the keys,
 * share links and sign-in methods that ended since, as far as the database in the file `replaced`
 * shows them. Records the restore. Returns a warning about what that database does not show, or ''.
 */
export async function endSinceBackup(
  { clock }: { clock: Clock },
  dir: string,
  replaced: string | undefined,
  { by, item }: Restore,
): Promise<string> {
  const copy = await openSqlite(join(dir, databaseFile))
  try {
    const warning =
      replaced === undefined
        ? ''
        : await endAsIn(copy, replaced, clock.now()).then(
            unknownKeys,
            // It may be damaged, or of an earlier version.
            () => unreadable,
          )
    await copy.tx(async (db) => {
      await endAllSessions(db)
      await recordAudit({ clock }, db, { by, did: 'restore backup', item, why: warning })
    })
    return warning
  } finally {
    await copy.close()
  }
}
