import { and, count, eq, gte, isNull, min } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { idPattern, newId } from '../../core/ids.ts'
import { hour, secondsUntil } from '../../core/time.ts'
import type { Db } from '../../db/engine.ts'
import { lock } from '../../db/lock.ts'
import { ApiError } from '../../errors.ts'
import { commentCharsMax, commentsPerHour } from '../../limits.ts'
import type { Agent } from '../agents/agents.ts'
import * as apps from '../apps/apps.ts'
import { getListed } from '../explore/explore.ts'
import { notify } from '../notifications/notifications.ts'
import { listVisible } from './list.ts'
import type { CommentRequest } from './schemas.ts'
import { comments } from './tables.ts'
import { validateText, excerpt } from './text.ts'

export type Comment = typeof comments.$inferSelect

/** What is said below an item, newest first. */
export const list = listVisible(comments)

const noComment = (see: string) => new ApiError('not_found', { what: 'comment', see })

/**
 * Says something below an item, or in reply to another comment there. Refuses not_found,
 * taken_down, comments_off, bad_request, text_blocked, comments_limit.
 */
export async function add(
  ctx: AppContext,
  agent: Agent,
  id: string,
  wanted: CommentRequest,
): Promise<Comment> {
  const item = await getListed(ctx, id)
  if (!item.comments) throw new ApiError('comments_off')
  const text = validateText(wanted.text, commentCharsMax)
  const { replyTo = null } = wanted
  return ctx.db.tx(async (db) => {
    await lock(db, `comments by ${agent.id}`)
    await checkPace(ctx, db, agent)
    const parent = replyTo === null ? undefined : await findShown(db, replyTo)
    if (replyTo !== null && parent?.item !== id)
      throw noComment(`GET /explore/${id}/comments lists them.`)
    const row = {
      id: newId(),
      item: id,
      agent: agent.id,
      text,
      replyTo,
      created: ctx.clock.now(),
    }
    const [comment] = await db.insert(comments).values(row).returning()
    if (!comment) throw new Error('the comment was not kept')
    await notifyOthers(ctx, db, { item, parent, agent, comment })
    return comment
  })
}

/** Refuses comments_limit past the comments that an agent may make in an hour. */
async function checkPace(ctx: AppContext, db: Db, agent: Agent): Promise<void> {
  const now = ctx.clock.now()
  const [row] = await db
    .select({ made: count(), oldest: min(comments.created).mapWith(Number) })
    .from(comments)
    .where(and(eq(comments.agent, agent.id), gte(comments.created, now - hour)))
  if ((row?.made ?? 0) < commentsPerHour) return
  const retryAfter = secondsUntil((row?.oldest ?? now) + hour, now)
  throw new ApiError('comments_limit', { max: commentsPerHour, retryAfter })
}

/** A comment that is not hidden. An id of the wrong form finds nothing. */
async function findShown(db: Db, id: string): Promise<Comment | undefined> {
  if (!idPattern.test(id)) return undefined
  const shown = and(eq(comments.id, id), isNull(comments.hidden))
  const [found] = await db.select().from(comments).where(shown)
  return found
}

interface PostedComment {
  item: apps.App
  parent: Comment | undefined
  agent: Agent
  comment: Comment
}

/** Who is replied to, and the maker, each once and nobody of its own comment. */
async function notifyOthers(ctx: AppContext, db: Db, { item, parent, agent, comment }: PostedComment) {
  const { handle } = agent
  const said = `“${item.title}”: “${excerpt(comment.text)}”`
  const same = { item: item.id, actor: handle, data: { comment: comment.id } }
  const replied = parent?.agent
  if (replied !== undefined && replied !== agent.id) {
    const text = `@${handle} replied to your comment on ${said}`
    await notify(ctx, db, { ...same, to: replied, kind: 'comment.reply', text })
  }
  if (item.maker !== agent.id && item.maker !== replied) {
    const text = `@${handle} commented on ${said}`
    await notify(ctx, db, { ...same, to: item.maker, kind: 'comment.new', text })
  }
}

/**
 * Removes an own comment; on an own item it hides another's. Refuses not_found (also to any other
 * agent), taken_down.
 */
export async function remove(
  ctx: AppContext,
  agent: Agent,
  id: string,
): Promise<'removed' | 'hidden'> {
  const comment = await findShown(ctx.db.read, id)
  // As much is looked up for a comment that nobody wrote.
  const item = await apps.findApp(ctx, comment?.item ?? id)
  const isOwn = comment?.agent === agent.id
  if (!comment || !item || (!isOwn && item.maker !== agent.id)) {
    throw noComment('GET /explore/{id}/comments lists those of an item.')
  }
  apps.requireAvailable(item)
  await ctx.db.tx(async (db) => {
    if (isOwn) await db.delete(comments).where(eq(comments.id, id))
    else await hideComment(ctx, db, id)
  })
  return isOwn ? 'removed' : 'hidden'
}

/** Takes a comment out of sight, inside a transaction. Answers its item. */
export async function hideComment(ctx: AppContext, db: Db, id: string): Promise<string | undefined> {
  const [comment] = await db
    .update(comments)
    .set({ hidden: ctx.clock.now() })
    .where(and(eq(comments.id, id), isNull(comments.hidden)))
    .returning()
  return comment?.item
}
