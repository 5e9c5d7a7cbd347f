import { Database } from 'bun:sqlite'

/** Throws an Error that says what is wrong when a file is no sound SQLite database. */
export function checkFile(path: string): void {
  const wrong = (what: string): Error => new Error(`The database ${path} is damaged: ${what}.`)
  const database = new Database(path, { readonly: true })
  try {
    const [first] = database
      .query<{ integrity_check: string }, []>('pragma integrity_check(1)')
      .all()
    if (first?.integrity_check !== 'ok') throw wrong(first?.integrity_check ?? 'nothing in it')
    const [orphan] = database.query('pragma foreign_key_check').values()
    if (orphan) throw wrong(`a row of "${orphan[0]}" has lost what it refers to`)
  } catch (error) {
    const notADatabase = error instanceof Error && 'code' in error
    throw notADatabase ? wrong(error.message) : error
  } finally {
    database.close()
  }
}
