import { and, eq, inArray } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { contentReferences } from '../../kernel/db/query.ts'
import { isApiError } from '../../kernel/errors.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import { newId } from '../../kernel/ids.ts'
import { notesPerAgentMax } from '../../kernel/limits.ts'
import { type NanoUsd, parseCredits } from '../../kernel/money.ts'
import { recordOf } from '../../kernel/schema.ts'
import { isPlainText } from '../../kernel/text.ts'
import { type Agent, findAgent } from '../../people/agents/agents.ts'
import { checkHandle, insertImportedAgent } from '../../people/agents/create-agent.ts'
import { countBytes } from '../../people/agents/storage-quota.ts'
import { insertFirstNotes } from '../../people/notifications/notifications.ts'
import { type App, findApp, findTakenIds } from '../apps.ts'
import { insertImportedComments, insertImportedReviews } from '../reviews/imported.ts'
import { Archive, ArchiveError, explained, problemOf } from './archive.ts'
import { absenceOf, type ArchivedItem, importItem, readItems, timeOf } from './items.ts'
import {
  type AgentFile,
  AgentFileSchema,
  archiveFormat,
  CommentLineSchema,
  earlierLedgerFile,
  NoteLineSchema,
  ReviewLineSchema,
} from './schemas.ts'
import { imports } from './tables.ts'

type ImportRow = typeof imports.$inferSelect

/** The column of stored ledgers. */
export const ledgers = contentReferences(imports.ledger)

const rowsPerStatement = 500

async function insertImports(db: Db, rows: ImportRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += rowsPerStatement) {
    await db.insert(imports).values(rows.slice(from, from + rowsPerStatement))
  }
}

/** Returns the ids here of what an archive has, by the ids there; empty before its import. */
async function findImported(db: Db, archive: string): Promise<Map<string, string>> {
  const rows = await db.select().from(imports).where(eq(imports.archive, archive))
  return new Map(rows.map(({ origin, local }) => [origin, local]))
}

/** Returns the id here of the agent that another archive of the same server and agent created. */
async function findEarlierImport(
  db: Db,
  { server, origin }: Pick<ImportRow, 'server' | 'origin'>,
): Promise<string | undefined> {
  const isSame = and(eq(imports.server, server), eq(imports.origin, origin))
  const [row] = await db.select().from(imports).where(isSame).limit(1)
  return row?.local
}

/** Returns the ids here of items of another server, whichever archive they came with. */
async function findItemsHere(
  db: Db,
  server: string,
  origins: string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (let from = 0; from < origins.length; from += rowsPerStatement) {
    const some = inArray(imports.origin, origins.slice(from, from + rowsPerStatement))
    const rows = await db
      .select()
      .from(imports)
      .where(and(eq(imports.server, server), some))
    for (const { origin, local } of rows) found.set(origin, local)
  }
  return found
}

/** Returns the name of the stored ledger that an agent brought along; null for any other agent. */
export async function findEarlierLedger({ db }: AppContext, agent: string): Promise<string | null> {
  const [row] = await db.read
    .select({ ledger: imports.ledger })
    .from(imports)
    .where(eq(imports.local, agent))
  return row?.ledger ?? null
}

const agentOf = createValidator(AgentFileSchema)
const noteOf = createValidator(NoteLineSchema)
const reviewOf = createValidator(ReviewLineSchema)
const commentOf = createValidator(CommentLineSchema)

/** An item of an archive, and whether it is here now. */
export interface ItemResult {
  /** Its id on the other server, and here. */
  origin: string
  id: string
  title: string
  kind: App['kind']
  state: 'new' | 'known' | 'skipped'
  /** Why it was skipped. */
  why?: string
}

export interface ImportResult {
  /** Names the archive. */
  archive: string
  file: AgentFile
  /** Credits of the agent on the other server. */
  credits: NanoUsd
  agent: Agent
  /** The first key of a new agent. */
  keyText: string | undefined
  items: ItemResult[]
  reviews: number
  comments: number
}

/**
 * Imports an agent of another server from the zip of its export. The whole archive is checked
 * first, and that the operator names the server that it says it is from, since nothing proves that.
 * Then the agent and each item are one transaction, and the same archive completes what an earlier
 * import left. Throws ArchiveError and what `insertImportedAgent` throws; then nothing is
 * kept.
 */
export async function importAgent(
  ctx: AppContext,
  path: string,
  { handle, from }: { handle?: string | undefined; from: string },
): Promise<ImportResult> {
  const archive = await Archive.open(path)
  const file = await readAgentFile(archive)
  const credits = explained('agent.json', () => parseCredits(file.agent.credits, 'agent.credits'))
  const items = await readItems(archive, file.agent)
  await checkLines(archive, `@${file.agent.handle}`)
  if (from !== file.server) {
    const other = from === '' ? '' : `, not from ${from}`
    throw new ArchiveError(
      `it says that it is from ${file.server}${other}, which nothing proves. If you got it from there, repeat that: --from ${file.server}`,
    )
  }
  const { agent, keyText } = await openAgent(ctx, archive, { file, items, handle })
  const ids = await findImported(ctx.db.read, archive.id)
  const results: ItemResult[] = []
  for (const item of items) results.push(await importOne(ctx, archive, { file, agent, ids, item }))
  const { reviews, comments } = await importTexts(ctx, archive, { file, agent })
  return { archive: archive.id, file, credits, agent, keyText, items: results, reviews, comments }
}

async function readAgentFile(archive: Archive): Promise<AgentFile> {
  const { format } = await archive.json('agent.json', recordOf)
  if (format === archiveFormat) return archive.json('agent.json', agentOf)
  throw new ArchiveError(
    `it has the format ${JSON.stringify(format)}, and this version of Berth reads format ${archiveFormat}. ` +
      'Export the agent again with the version that imports it.',
  )
}

/** Checks all lines before anything is stored. Throws ArchiveError. */
async function checkLines(archive: Archive, author: string): Promise<void> {
  for (const file of ['ledger.jsonl', 'notes.jsonl', 'reviews.jsonl', 'comments.jsonl']) {
    if (!archive.has(file)) throw new ArchiveError(`${file} is missing.`)
  }
  for await (const { text } of archive.lines('notes.jsonl', noteOf, notesPerAgentMax)) {
    if (!isPlainText(text, noteCharsMax)) {
      throw new ArchiveError('notes.jsonl has a note that is no plain text.')
    }
  }
  const reviews = archive.lines('reviews.jsonl', reviewOf, textLinesMax)
  await checkAuthors('reviews.jsonl', reviews, author)
  const comments = archive.lines('comments.jsonl', commentOf, textLinesMax)
  await checkAuthors('comments.jsonl', comments, author)
  // Nothing reads the entries of a ledger: it is kept as a document.
  await archive.text('ledger.jsonl')
  if (archive.has(earlierLedgerFile)) await archive.text(earlierLedgerFile)
}

/** Lines of the reviews and of the comments of an archive. */
const textLinesMax = 10_000

async function checkAuthors(
  file: string,
  lines: AsyncIterable<{ author: string }>,
  author: string,
): Promise<void> {
  for await (const line of lines) {
    if (line.author === author) continue
    throw new ArchiveError(`${file} has a line of ${line.author}, and the archive is of ${author}.`)
  }
}

const noteCharsMax = 10_000

interface NewImport {
  file: AgentFile
  items: ArchivedItem[]
  handle: string | undefined
}

/** Finds the agent that an earlier import of the archive created, or creates it. */
async function openAgent(
  ctx: AppContext,
  archive: Archive,
  { file, items, handle }: NewImport,
): Promise<{ agent: Agent; keyText: string | undefined }> {
  const { id: origin } = file.agent
  const local = (await findImported(ctx.db.read, archive.id)).get(origin)
  if (local !== undefined) {
    const agent = await findAgent(ctx, local)
    if (agent?.closed === null) return { agent, keyText: undefined }
    throw new ArchiveError('its agent was imported before, and has closed its account since.')
  }
  const other = await findEarlierImport(ctx.db.read, { server: file.server, origin })
  const before = other === undefined ? undefined : await findAgent(ctx, other)
  if (before && handle === undefined) {
    throw new ArchiveError(
      `another archive of the same agent was imported as @${before.handle}. ` +
        'To import this one as another agent, give it a handle: --as <handle>',
    )
  }
  const name = handle ?? file.agent.handle
  await checkHandle(ctx.db.read, name)
  const ledgers = await joinLedgers(archive, file)
  const ledger = (await ctx.storage.put(ledgers)).sha256
  const notes = await readNotes(ctx, archive)
  return ctx.db.tx(async (db) => {
    const { agent, keyText } = await insertImportedAgent(ctx, db, {
      handle: name,
      about: file.agent.about,
      created: timeOf(ctx, file.agent.created),
      from: `import ${archive.id}`,
    })
    await countBytes(db, agent.id, ledgers.byteLength)
    const ids = await chooseIds(db, items)
    const shared = { archive: archive.id, server: file.server, at: ctx.clock.now() }
    await insertImports(db, [
      { ...shared, origin, local: agent.id, ledger },
      ...[...ids].map(([from, to]) => ({ ...shared, origin: from, local: to, ledger: null })),
    ])
    const ownNotes = notes.map((note) => ({ ...note, item: ids.get(note.item ?? '') ?? null }))
    await insertFirstNotes(db, agent.id, ownNotes)
    return { agent, keyText }
  })
}

/** Returns the ids of items here: those that they have, where no other item has them. */
async function chooseIds(db: Db, items: ArchivedItem[]): Promise<Map<string, string>> {
  const origins = items.map(({ file }) => file.id)
  const taken = await findTakenIds(db, origins)
  return new Map(origins.map((origin) => [origin, taken.has(origin) ? newId() : origin]))
}

/** Returns the ledgers of all servers of the agent, newest first, each after a line about it. */
async function joinLedgers(archive: Archive, file: AgentFile): Promise<Uint8Array> {
  const { server, exported, agent } = file
  const head = { kind: 'import', server, handle: `@${agent.handle}`, exported }
  const earlier = archive.has(earlierLedgerFile) ? [await archive.read(earlierLedgerFile)] : []
  const first = new TextEncoder().encode(`${JSON.stringify(head)}\n`)
  return Buffer.concat([first, await archive.read('ledger.jsonl'), ...earlier])
}

/** Returns the notes, oldest first. */
async function readNotes(ctx: AppContext, archive: Archive) {
  const notes = []
  for await (const { at, read, item, ...note } of archive.lines('notes.jsonl', noteOf)) {
    const time = timeOf(ctx, at)
    notes.push({ ...note, item, at: time, read: read ? time : null })
  }
  return notes.toReversed()
}

interface OneItem {
  file: AgentFile
  agent: Agent
  ids: Map<string, string>
  item: ArchivedItem
}

/** Imports an item, unless it is here. One that may not be published here is skipped. */
async function importOne(
  ctx: AppContext,
  archive: Archive,
  { file, agent, ids, item }: OneItem,
): Promise<ItemResult> {
  const { id: origin, title, kind, remixOf } = item.file
  const id = ids.get(origin)
  if (id === undefined) throw new Error(`the item ${origin} has no id here`)
  const result = { origin, id, title, kind }
  if (await findApp(ctx, id)) return { ...result, state: 'known' }
  const absence = absenceOf(item.file)
  if (absence !== undefined) return { ...result, state: 'skipped', why: absence }
  try {
    const source = remixOf && (await originHere(ctx, file, remixOf.id))
    await importItem(ctx, agent, archive, { item, id, remixOf: source })
    return { ...result, state: 'new' }
  } catch (error) {
    const why = problemOf(error)
    if (why === undefined || isApiError(error, 'try_again')) throw error
    return { ...result, state: 'skipped', why }
  }
}

/**
 * Returns the id here of the original of a remix. One that is not here keeps its id, unless another
 * item has it: then the remix would name a stranger.
 */
async function originHere(ctx: AppContext, file: AgentFile, id: string): Promise<string> {
  const here = (await findItemsHere(ctx.db.read, file.server, [id])).get(id)
  if (here !== undefined) return here
  return (await findApp(ctx, id)) ? newId() : id
}

/**
 * Inserts the reviews and comments on items that came from the same server. On items of others they
 * need what a post needs: a listed item, and for comments one that takes them.
 */
async function importTexts(
  ctx: AppContext,
  archive: Archive,
  { file, agent }: { file: AgentFile; agent: Agent },
): Promise<Pick<ImportResult, 'reviews' | 'comments'>> {
  const itemsOf = async <Line extends { item: string }>(lines: Line[]) => {
    const origins = [...new Set(lines.map(({ item }) => item))]
    const here = await findItemsHere(ctx.db.read, file.server, origins)
    const found = new Map<string, App>()
    for (const [origin, id] of here) {
      const app = await findApp(ctx, id)
      if (app?.closed === null && app.takenDown === null) found.set(origin, app)
    }
    return lines.flatMap((line) => {
      const app = found.get(line.item)
      return app ? [{ ...line, app }] : []
    })
  }
  const reviews = await itemsOf(await Array.fromAsync(archive.lines('reviews.jsonl', reviewOf)))
  const comments = await itemsOf(await Array.fromAsync(archive.lines('comments.jsonl', commentOf)))
  const times = ({ created }: { created: string }) => ({ created: timeOf(ctx, created) })
  return ctx.db.tx(async (db) => ({
    reviews: await insertImportedReviews(
      db,
      agent,
      reviews
        .filter(({ app }) => app.maker !== agent.id && app.listed === 'on')
        .map(({ id, app, stars, text, version, ...review }) => ({
          id,
          item: app.id,
          stars,
          text,
          version: Math.min(version, app.version),
          ...times(review),
          updated: timeOf(ctx, review.updated),
        })),
    ),
    comments: await insertImportedComments(
      db,
      agent,
      comments
        .filter(({ app }) => app.maker === agent.id || (app.listed === 'on' && app.comments))
        .map(({ id, app, text, replyTo, ...comment }) => {
          return { id, item: app.id, text, replyTo, ...times(comment) }
        }),
    ),
  }))
}
