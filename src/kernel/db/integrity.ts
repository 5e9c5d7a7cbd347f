import { Database } from 'bun:sqlite'

/** Throws an Error that names the damage when a file is not an intact SQLite database. */
export function checkIntegrity(path: string): void {
  const damaged = (what: string): Error => new Error(`The database ${path} is damaged: ${what}.`)
  const database = new Database(path, { readonly: true })
  try {
    const [first] = database
      .query<{ integrity_check: string }, []>('pragma integrity_check(1)')
      .all()
    if (first?.integrity_check !== 'ok') throw damaged(first?.integrity_check ?? 'it is empty')
    const [orphan] = database.query('pragma foreign_key_check').values()
    if (orphan) throw damaged(`a row of "${orphan[0]}" refers to a missing row`)
  } catch (error) {
    const notADatabase = error instanceof Error && 'code' in error
    throw notADatabase ? damaged(error.message) : error
  } finally {
    database.close()
  }
}
