/** What went wrong in a database, in one vocabulary for both engines. */
export type Fault = 'unique' | 'check' | 'full' | 'readonly' | 'busy' | 'other'

/** The database could not take the work in time: another process writes, or the queue is full. */
export class Busy extends Error {
  override readonly name = 'Busy'
}

/** https://sqlite.org/rescode.html; a failed write to a file that may not grow counts as full. */
const sqliteFaults: [RegExp, Fault][] = [
  [/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY|ROWID)$/, 'unique'],
  [/^SQLITE_CONSTRAINT_CHECK$/, 'check'],
  [/^SQLITE_(FULL|IOERR_WRITE|IOERR_SHMSIZE)$/, 'full'],
  [/^SQLITE_(READONLY|CANTOPEN|PERM)/, 'readonly'],
  [/^SQLITE_(BUSY|LOCKED)/, 'busy'],
]

/** SQLSTATE: PostgreSQL's manual, appendix A. */
const postgresFaults: [RegExp, Fault][] = [
  [/^23505$/, 'unique'],
  [/^23514$/, 'check'],
  [/^53[12]00$/, 'full'],
  [/^25006$/, 'readonly'],
  [/^(40001|40P01|55P03|57014|53300|57P01|57P03)$/, 'busy'],
]

/** The server is away: it is started again, or the network is cut. */
const isAway = (code: string): boolean => code.startsWith('ERR_POSTGRES_CONNECTION_')

/** A text property of the driver's own error, which drizzle wraps as a cause (four deep at most) */
function told(error: unknown, property: string): string {
  let inner = error
  for (let depth = 0; depth < 4 && inner instanceof Error && inner.cause; depth++)
    inner = inner.cause
  const value: unknown = inner instanceof Error ? Reflect.get(inner, property) : undefined
  return typeof value === 'string' ? value : ''
}

/** PostgreSQL's five-character SQLSTATE, or an empty text. */
export const sqlState = (error: unknown): string => told(error, 'errno')

/** Names what happened. Anything that is not a database's error is 'other'. */
export function faultOf(error: unknown): Fault {
  if (error instanceof Busy) return 'busy'
  const code = told(error, 'code')
  if (isAway(code)) return 'busy'
  const [faults, text] = code.startsWith('SQLITE_')
    ? [sqliteFaults, code]
    : [postgresFaults, sqlState(error)]
  return faults.find(([pattern]) => pattern.test(text))?.[1] ?? 'other'
}

/** Whether a write could not be taken just now, and may be later: no room, no right, no time. */
export const cannotTake = (error: unknown): boolean => /^(full|readonly|busy)$/.test(faultOf(error))
