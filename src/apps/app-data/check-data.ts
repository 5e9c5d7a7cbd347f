import {
  and,
  type AnyColumn,
  asc,
  count,
  eq,
  gt,
  inArray,
  ne,
  notExists,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'

import type { Db, Engine } from '../../kernel/db/engine.ts'
import { apps } from '../tables.ts'
import { challenges, documents, players, scores, spaces, uploads, values } from './tables.ts'

/** Apps that one statement compares. Each may have 64 MB of documents. */
const appsPerPage = 20
const problemsMax = 100

/**
 * Compares the counters of documents and values with their rows, and finds rows whose app was
 * removed. Returns a line for each problem. Each is read in one statement, so the check may run
 * beside a working server.
 */
export async function checkData({ db: { read: db } }: { db: Engine }): Promise<string[]> {
  const problems = await findLostRows(db)
  for (let after = ''; problems.length < problemsMax;) {
    const page = await db
      .select({ id: apps.id })
      .from(apps)
      .where(gt(apps.id, after))
      .orderBy(asc(apps.id))
      .limit(appsPerPage)
    const ids = page.map(({ id }) => id)
    const last = ids.at(-1)
    if (last === undefined) break
    problems.push(...(await compareSpaces(db, ids)), ...(await comparePlayers(db, ids)))
    after = last
    // Requests of a working server go on between pages.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return problems.slice(0, problemsMax)
}

const appColumns: [what: string, app: AnySQLiteColumn<{ data: string }>][] = [
  ['documents', documents.app],
  ['values', values.app],
  ['players', players.app],
  ['scores', scores.app],
  ['uploaded files', uploads.app],
  ['challenges', challenges.app],
  ['counters', spaces.app],
]

async function findLostRows(db: Db): Promise<string[]> {
  const problems: string[] = []
  const present = db.select({ id: apps.id }).from(apps)
  for (const [what, app] of appColumns) {
    const lost = await db
      .selectDistinct({ app })
      .from(app.table)
      .where(notInArray(app, present))
      .limit(problemsMax)
    for (const row of lost) problems.push(`app ${row.app} was removed, but its ${what} are there`)
  }
  return problems
}

/** A number of rows and their bytes. */
interface Size<Of> {
  rows: Of
  bytes: Of
}

/** Returns what compares a counter with its rows, and the condition that they differ. */
function compare(counter: Size<AnyColumn>, found: Size<AnyColumn | SQL.Aliased>) {
  const orZero = (of: AnyColumn | SQL.Aliased) => sql`coalesce(${of}, 0)`.mapWith(Number)
  const compared = {
    countedRows: orZero(counter.rows),
    countedBytes: orZero(counter.bytes),
    rows: orZero(found.rows),
    bytes: orZero(found.bytes),
  }
  const { countedRows, countedBytes, rows, bytes } = compared
  return { compared, differ: sql`(${countedRows}, ${countedBytes}) <> (${rows}, ${bytes})` }
}

interface Compared extends Size<number> {
  countedRows: number
  countedBytes: number
}

function describe(
  whose: string,
  what: string,
  { countedRows, countedBytes, rows, bytes }: Compared,
): string[] {
  if (countedRows === rows && countedBytes === bytes) return []
  const counted = `${countedRows} of ${countedBytes} bytes`
  return [`${whose} counts ${what}: ${counted}, but has ${rows} of ${bytes} bytes`]
}

/** Compares the documents and the shared values of apps. A removed document has no data. */
async function compareSpaces(db: Db, ids: string[]): Promise<string[]> {
  const ofDocuments = db
    .select({
      app: documents.app,
      rows: sql`count(${documents.data})`.as('document_rows'),
      bytes: sql`sum(${documents.bytes})`.as('document_sum'),
    })
    .from(documents)
    .where(inArray(documents.app, ids))
    .groupBy(documents.app)
    .as('of_documents')
  const ofValues = db
    .select({
      app: values.app,
      rows: count().as('value_rows'),
      bytes: sql`sum(${values.bytes})`.as('value_sum'),
    })
    .from(values)
    .where(and(inArray(values.app, ids), eq(values.owner, '')))
    .groupBy(values.app)
    .as('of_values')
  const inDocuments = compare({ rows: spaces.documents, bytes: spaces.documentBytes }, ofDocuments)
  const inValues = compare({ rows: spaces.values, bytes: spaces.valueBytes }, ofValues)
  const wrong = await db
    .select({
      app: apps.id,
      documents: inDocuments.compared,
      values: inValues.compared,
    })
    .from(apps)
    .leftJoin(spaces, eq(spaces.app, apps.id))
    .leftJoin(ofDocuments, eq(ofDocuments.app, apps.id))
    .leftJoin(ofValues, eq(ofValues.app, apps.id))
    .where(and(inArray(apps.id, ids), or(inDocuments.differ, inValues.differ)))
  return wrong.flatMap((row) => [
    ...describe(`app ${row.app}`, 'documents', row.documents),
    ...describe(`app ${row.app}`, 'shared values', row.values),
  ])
}

/** Compares the personal values of players, and finds those of players without a row. */
async function comparePlayers(db: Db, ids: string[]): Promise<string[]> {
  const isPersonal = and(inArray(values.app, ids), ne(values.owner, ''))
  const ofValues = db
    .select({
      app: values.app,
      owner: values.owner,
      rows: count().as('value_rows'),
      bytes: sql`sum(${values.bytes})`.as('value_sum'),
    })
    .from(values)
    .where(isPersonal)
    .groupBy(values.app, values.owner)
    .as('of_values')
  const { compared, differ } = compare(
    { rows: players.values, bytes: players.valueBytes },
    ofValues,
  )
  const wrong = await db
    .select({ app: players.app, id: players.id, ...compared })
    .from(players)
    .leftJoin(ofValues, and(eq(ofValues.app, players.app), eq(ofValues.owner, players.id)))
    .where(and(inArray(players.app, ids), differ))
    .limit(problemsMax)
  const owner = db
    .select({ id: players.id })
    .from(players)
    .where(and(eq(players.app, values.app), eq(players.id, values.owner)))
  const unknown = await db
    .selectDistinct({ app: values.app, id: values.owner })
    .from(values)
    .where(and(isPersonal, notExists(owner)))
    .limit(problemsMax)
  return [
    ...wrong.flatMap((row) => describe(`player ${row.id} of app ${row.app}`, 'values', row)),
    ...unknown.map(({ app, id }) => `app ${app} has values of ${id}, who is no player of it`),
  ]
}
