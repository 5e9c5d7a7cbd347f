import type { AppContext } from '../../kernel/context.ts'
import type { PagePosition } from '../../kernel/cursor.ts'
import { listPageMax } from '../../kernel/limits.ts'
import { toCredits } from '../../kernel/money.ts'
import { iso } from '../../kernel/time.ts'
import { version } from '../../kernel/version.ts'
import { agentOwner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { listNotes } from '../../people/notifications/notifications.ts'
import { listRecords } from '../app-data/records.ts'
import type { RecordQuery } from '../app-data/schemas.ts'
import * as apps from '../apps.ts'
import {
  exportZip,
  jsonFile,
  linesFile,
  pagesOf,
  positionOf,
  type StreamedFile,
} from '../folders/zip-stream.ts'
import { findEarlierLedger } from '../imports/imports.ts'
import { archiveFormat, earlierLedgerFile } from '../imports/schemas.ts'
import { kinds } from '../kinds.ts'
import { presentItem } from '../present.ts'
import { listCommentsBy, presentComments } from '../reviews/comments.ts'
import { listReviewsBy, presentReviews } from '../reviews/reviews.ts'
import { filesOf } from '../versions/export.ts'
import { presentNote } from './notes/schemas.ts'
import { listLedger } from './statements/operations.ts'

async function* recordsOf(
  ctx: AppContext,
  app: apps.App,
  kind: NonNullable<RecordQuery['kind']>,
): AsyncGenerator<unknown[]> {
  let cursor: string | undefined
  do {
    const query = { kind, limit: listPageMax, ...(cursor !== undefined && { cursor }) }
    const { records, next } = await listRecords(ctx, app, 'maker', query)
    yield records
    cursor = next ?? undefined
  } while (cursor !== undefined)
}

/** Yields a stored file; nothing where there is none. */
async function* storedFile(
  { storage }: AppContext,
  path: string,
  sha256: string | null,
): AsyncGenerator<StreamedFile> {
  const bytes = sha256 === null ? undefined : await storage.read(sha256)
  if (bytes) yield { path, content: [bytes] }
}

async function* filesOfApp(
  ctx: AppContext,
  { handle }: Agent,
  app: apps.App,
): AsyncGenerator<StreamedFile> {
  const folder = `apps/${app.id}`
  const { name, listedVersion, listedAt, iconGiven } = app
  const { expiresAt, ...item } = presentItem(ctx, app)
  yield jsonFile(`${folder}/app.json`, {
    ...item,
    // The name of the field in archives, which servers of any version read.
    expires: expiresAt,
    maker: `@${handle}`,
    name,
    listedVersion,
    listedAt: listedAt === null ? null : iso(listedAt),
    iconGiven,
  })
  // Its maker cannot read an app that the operator took down.
  if (app.takenDown !== null) return
  yield* storedFile(ctx, `${folder}/icon.png`, app.icon)
  yield* storedFile(ctx, `${folder}/cover.webp`, app.coverGiven ? app.cover : null)
  for await (const { path, bytes } of filesOf(ctx, app)) {
    yield { path: `${folder}/${path}`, content: [bytes] }
  }
  for (const kind of ['document', 'value', 'score', 'upload'] as const) {
    yield linesFile(`${folder}/${kind}s.jsonl`, recordsOf(ctx, app, kind))
  }
}

async function* filesOfAgent(ctx: AppContext, agent: Agent): AsyncGenerator<StreamedFile> {
  const { handle, about, created, id } = agent
  const { balance, held } = await ledger.balanceOf(ctx, agentOwner(id))
  yield jsonFile('agent.json', {
    format: archiveFormat,
    berth: version,
    server: ctx.urls.app,
    exported: iso(ctx.clock.now()),
    agent: {
      id,
      handle,
      about,
      created: iso(created),
      credits: toCredits(balance),
      held: toCredits(held),
    },
  })
  const limit = listPageMax
  const entries = pagesOf(
    (before: number | undefined) => listLedger(ctx, agent, { limit, before }),
    (entry) => entry.id,
  )
  yield linesFile('ledger.jsonl', entries)
  yield* storedFile(ctx, earlierLedgerFile, await findEarlierLedger(ctx, id))
  const notes = pagesOf(
    (before: number | undefined) => listNotes(ctx, id, { unread: false, limit, before }),
    (note) => note.number,
  )
  yield linesFile('notes.jsonl', notes, (rows) => rows.map(presentNote))
  const reviews = pagesOf(
    (after: PagePosition | undefined) => listReviewsBy(ctx, [id], limit, after),
    positionOf,
  )
  yield linesFile('reviews.jsonl', reviews, (rows) => presentReviews(ctx, rows))
  const comments = pagesOf(
    (after: PagePosition | undefined) => listCommentsBy(ctx, id, limit, after),
    positionOf,
  )
  yield linesFile('comments.jsonl', comments, (rows) => presentComments(ctx, rows))
  const made = pagesOf(
    (after: PagePosition | undefined) => apps.listByMaker(ctx, id, limit, after, kinds),
    positionOf,
  )
  for await (const page of made) {
    for (const app of page) yield* filesOfApp(ctx, agent, app)
  }
}

/**
 * Streams a zip with everything of an agent: its account, ledger, notes, reviews and comments, and
 * its apps with all versions and the shared data of their players.
 */
export const exportAgent = (ctx: AppContext, agent: Agent): AsyncGenerator<Uint8Array> =>
  exportZip(filesOfAgent(ctx, agent))
