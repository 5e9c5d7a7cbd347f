/** The kind of a database error, the same for both engines. */
export type DatabaseErrorKind = 'unique' | 'check' | 'full' | 'readonly' | 'busy' | 'other'

/** SQLSTATE of a transaction that has to run again. */
const serializationFailure = '40001'

/** The database could not take a write in time: it is locked, or the queue is full. */
export class DatabaseBusy extends Error {
  override readonly name = 'DatabaseBusy'
}

/** Another transaction was first. `Engine.tx` runs the work again, as after a deadlock. */
export class LostRace extends Error {
  override readonly name = 'LostRace'
  readonly errno = serializationFailure
}

/** https://sqlite.org/rescode.html. A failed write to a file that may not grow counts as full. */
const sqliteKinds: [RegExp, DatabaseErrorKind][] = [
  [/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)$/, 'unique'],
  [/^SQLITE_CONSTRAINT_CHECK$/, 'check'],
  [/^SQLITE_(FULL|IOERR_WRITE|IOERR_SHMSIZE)$/, 'full'],
  [/^SQLITE_(READONLY|CANTOPEN|PERM)/, 'readonly'],
  [/^SQLITE_(BUSY|LOCKED)/, 'busy'],
]

/** SQLSTATE: PostgreSQL's manual, appendix A. */
const postgresKinds: [RegExp, DatabaseErrorKind][] = [
  [/^23505$/, 'unique'],
  [/^23514$/, 'check'],
  [/^53[12]00$/, 'full'],
  [/^25006$/, 'readonly'],
  [/^(40001|40P01|55P03|57014|53300|57P01|57P03)$/, 'busy'],
]

/** PostgreSQL is restarting, or the network is down. */
const isServerUnreachable = (code: string): boolean => code.startsWith('ERR_POSTGRES_CONNECTION_')

/** Returns a text property of the driver's error, which drizzle wraps up to four causes deep. */
function driverErrorProperty(error: unknown, property: string): string {
  let inner = error
  for (let depth = 0; depth < 4 && inner instanceof Error && inner.cause; depth++)
    inner = inner.cause
  const value: unknown = inner instanceof Error ? Reflect.get(inner, property) : undefined
  return typeof value === 'string' ? value : ''
}

/** Returns PostgreSQL's five-character SQLSTATE, or ''. */
export const sqlState = (error: unknown): string => driverErrorProperty(error, 'errno')

/** Returns the kind of a database error; 'other' for any other error. */
export function databaseErrorKind(error: unknown): DatabaseErrorKind {
  if (error instanceof DatabaseBusy) return 'busy'
  const code = driverErrorProperty(error, 'code')
  if (isServerUnreachable(code)) return 'busy'
  const [kinds, text] = code.startsWith('SQLITE_')
    ? [sqliteKinds, code]
    : [postgresKinds, sqlState(error)]
  return kinds.find(([pattern]) => pattern.test(text))?.[1] ?? 'other'
}

/** Returns whether a write failed for a reason that may pass: disk full, read-only or busy. */
export const isWriteUnavailable = (error: unknown): boolean =>
  /^(full|readonly|busy)$/.test(databaseErrorKind(error))
