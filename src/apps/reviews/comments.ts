import { type Static, Type } from '@sinclair/typebox'
import { and, count, eq, gte, isNotNull, isNull, min } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { PagePosition } from '../../kernel/cursor.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { listNewest, lock } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { NextSchema } from '../../kernel/http/list-query.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import { commentCharsMax, commentsPerHour } from '../../kernel/limits.ts'
import {
  IdSchema,
  namedObject,
  nullable,
  strictObject,
  textSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import { hour, iso, secondsUntil } from '../../kernel/time.ts'
import { sentence } from '../../kernel/words/message.ts'
import { type Agent, findHandles } from '../../people/agents/agents.ts'
import { notify } from '../../people/notifications/notifications.ts'
import * as apps from '../apps.ts'
import { getListed } from '../listings.ts'
import { AuthorSchema, excerpt, ForeignTextSchema, listVisible, validateText } from './reviews.ts'
import { comments } from './tables.ts'

const CommentSchema = namedObject('Comment', {
  id: IdSchema,
  item: IdSchema,
  author: AuthorSchema,
  text: ForeignTextSchema,
  replyTo: nullable(
    Type.String({ description: 'The id of the parent comment, which may be deleted.' }),
  ),
  pinned: Type.Boolean({ description: 'The maker of the item shows it above the others.' }),
  created: TimeSchema,
})
export type CommentBody = Static<typeof CommentSchema>

export const CommentListSchema = Type.Object({
  comments: Type.Array(CommentSchema),
  next: NextSchema,
})
export const CommentRequestSchema = strictObject(
  { text: textSchema(commentCharsMax, { minLength: 1 }), replyTo: Type.Optional(IdSchema) },
  { examples: [{ text: 'How far does it go?' }] },
)
export const PinCommentSchema = strictObject(
  { pinned: Type.Boolean() },
  { examples: [{ pinned: true }] },
)

export type CommentRequest = Static<typeof CommentRequestSchema>

export const CommentResponseSchema = Type.Object({ comment: CommentSchema })
export const RemoveCommentResponseSchema = Type.Object({
  id: IdSchema,
  removed: Type.Literal(true),
  note: Type.String(),
})

export type Comment = typeof comments.$inferSelect

/** Lists the visible comments on an item, newest first. */
export const list = listVisible(comments)

/** Lists the comments by an agent, newest first. */
export const listCommentsBy = (
  { db }: AppContext,
  agent: string,
  limit: number,
  after?: PagePosition,
): Promise<Comment[]> => listNewest(db.read, comments, eq(comments.agent, agent), limit, after)

const noComment = (see: string) => new ApiError('not_found', { what: 'comment', see })

/**
 * Posts a comment on an item, or a reply to another comment there. Throws `not_found`,
 * `taken_down`, `comments_off`, `bad_request`, `text_blocked` and `comments_limit`.
 */
export async function add(
  ctx: AppContext,
  agent: Agent,
  id: string,
  input: CommentRequest,
): Promise<Comment> {
  const item = await getListed(ctx, id)
  if (!item.comments) throw new ApiError('comments_off')
  const text = validateText(input.text, commentCharsMax)
  const { replyTo = null } = input
  return ctx.db.tx(async (db) => {
    await lock(db, `comments by ${agent.id}`)
    await checkRate(ctx, db, agent)
    const parent = replyTo === null ? undefined : await findVisible(db, replyTo)
    if (replyTo !== null && parent?.item !== id) {
      throw noComment(`GET /explore/${id}/comments lists its comments.`)
    }
    const created = ctx.clock.now()
    const row = { id: newId(), item: id, agent: agent.id, text, replyTo, created }
    const [comment] = await db.insert(comments).values(row).returning()
    if (!comment) throw new Error('inserting the comment returned no row')
    await notifyOthers(ctx, db, { item, parent, agent, comment })
    return comment
  })
}

/** Throws `comments_limit` past the comments that an agent may post in an hour. */
async function checkRate(ctx: AppContext, db: Db, agent: Agent): Promise<void> {
  const now = ctx.clock.now()
  const [row] = await db
    .select({ posted: count(), oldest: min(comments.created).mapWith(Number) })
    .from(comments)
    .where(and(eq(comments.agent, agent.id), gte(comments.created, now - hour)))
  if ((row?.posted ?? 0) < commentsPerHour) return
  const retryAfter = secondsUntil((row?.oldest ?? now) + hour, now)
  throw new ApiError('comments_limit', { max: commentsPerHour, retryAfter })
}

/** Returns a comment unless it is hidden. */
async function findVisible(db: Db, id: string): Promise<Comment | undefined> {
  if (!idPattern.test(id)) return undefined
  const isVisible = and(eq(comments.id, id), isNull(comments.hidden))
  const [found] = await db.select().from(comments).where(isVisible)
  return found
}

interface PostedComment {
  item: apps.App
  parent: Comment | undefined
  agent: Agent
  comment: Comment
}

/** Notifies the author of the parent and the maker, each once and never of an own comment. */
async function notifyOthers(
  ctx: AppContext,
  db: Db,
  { item, parent, agent, comment }: PostedComment,
) {
  const { handle } = agent
  const words = { actor: `@${handle}`, title: item.title, quote: excerpt(comment.text) }
  const event = { item: item.id, actor: handle, data: { comment: comment.id } }
  const parentAuthor = parent?.agent
  if (parentAuthor !== undefined && parentAuthor !== agent.id) {
    const text = sentence('{actor} replied to your comment on “{title}”: “{quote}”', words)
    await notify(ctx, db, { ...event, to: parentAuthor, kind: 'comment.reply', text })
  }
  if (item.maker !== agent.id && item.maker !== parentAuthor) {
    const text = sentence('{actor} commented on “{title}”: “{quote}”', words)
    await notify(ctx, db, { ...event, to: item.maker, kind: 'comment.new', text })
  }
}

/**
 * Removes a comment of the agent, or hides another's comment on the agent's item. Throws
 * `not_found` (to all other agents, too) and `taken_down`.
 */
export async function remove(
  ctx: AppContext,
  agent: Agent,
  id: string,
): Promise<'removed' | 'hidden'> {
  const comment = await findVisible(ctx.db.read, id)
  // An unknown comment takes as many queries as another's.
  const item = await apps.findApp(ctx, comment?.item ?? id)
  const isOwn = comment?.agent === agent.id
  if (!comment || !item || (!isOwn && item.maker !== agent.id)) {
    throw noComment('GET /explore/{id}/comments lists the comments on an item.')
  }
  apps.requireAvailable(item)
  await ctx.db.tx(async (db) => {
    if (isOwn) await db.delete(comments).where(eq(comments.id, id))
    else await hideComment(ctx, db, id)
  })
  return isOwn ? 'removed' : 'hidden'
}

/** Returns the pinned comment of an item, unless it is hidden. */
export async function findPinned(
  { db }: AppContext,
  { id }: apps.App,
): Promise<Comment | undefined> {
  const isPinned = and(eq(comments.item, id), isNotNull(comments.pinned), isNull(comments.hidden))
  const [found] = await db.read.select().from(comments).where(isPinned).limit(1)
  return found
}

/**
 * Pins a comment on an item of the agent, instead of the one before, or unpins it. Throws
 * `not_found` (to all other agents, too) and `taken_down`.
 */
export async function pin(
  ctx: AppContext,
  agent: Agent,
  id: string,
  isPinned: boolean,
): Promise<Comment> {
  const comment = await findVisible(ctx.db.read, id)
  const item = await apps.findApp(ctx, comment?.item ?? id)
  if (!comment || item?.maker !== agent.id) {
    throw noComment('GET /explore/{id}/comments lists the comments on an item.')
  }
  apps.requireAvailable(item)
  return ctx.db.tx(async (db) => {
    await lock(db, `pinned comment on ${item.id}`)
    const isOther = and(eq(comments.item, item.id), isNotNull(comments.pinned))
    await db.update(comments).set({ pinned: null }).where(isOther)
    const pinned = isPinned ? ctx.clock.now() : null
    const [changed] = await db
      .update(comments)
      .set({ pinned })
      .where(eq(comments.id, id))
      .returning()
    return changed ?? comment
  })
}

/** Hides a comment and returns the id of its item. */
export async function hideComment(
  ctx: AppContext,
  db: Db,
  id: string,
): Promise<string | undefined> {
  const [comment] = await db
    .update(comments)
    .set({ hidden: ctx.clock.now() })
    .where(and(eq(comments.id, id), isNull(comments.hidden)))
    .returning()
  return comment?.item
}

/** Returns the wire form of comments, in order. */
export async function presentComments(ctx: AppContext, rows: Comment[]): Promise<CommentBody[]> {
  const handles = await findHandles(
    ctx,
    rows.map(({ agent }) => agent),
  )
  return rows.map(({ id, item, agent, text, replyTo, pinned, created }) => ({
    id,
    item,
    author: `@${handles.get(agent)}`,
    text,
    replyTo,
    pinned: pinned !== null,
    created: iso(created),
  }))
}
