import * as apps from '../../apps/apps.ts'
import { listTilesByIds } from '../../apps/explore/explore.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { day, utcDay } from '../../kernel/time.ts'
import { msg, type Sentence, t, type Text, textOf } from '../../kernel/words/message.ts'
import { currentLanguage, languages, perLanguage } from '../../kernel/words/words.ts'
import type { NoteKind } from '../../people/notifications/kinds.ts'
import type { Note } from '../../people/notifications/notifications.ts'
import { ownCover } from '../agents/own-apps.ts'
import { renderAvatar } from '../art.ts'
import { formatCount, renderAge, renderDate } from '../format.ts'
import { itemCover } from '../tiles.ts'
import { type AgentNote, countRuns, groupNotes, isFailure, type NoteGroup } from './groups.ts'

/** A row of a list of notifications. */
export interface NotificationRow {
  at: number
  hasFailed: boolean
  row: Html
}

/** Isolates quoted texts, so that right-to-left quotes do not swap places. */
const isolateQuotes = (text: string): Part =>
  text
    .split(/(?<=“)([^”]+)(?=”)/)
    .map((piece, at) => (at % 2 === 1 ? html`<bdi>${piece}</bdi>` : piece))

/** The words of a person for notes whose text tells a program which request to send. */
const ownWords: Partial<Record<NoteKind, (values: Sentence['values']) => string>> = {
  'app.error': (values) => t('“{title}” has errors in version {version}.', values),
  'report.opened': (values) =>
    t(
      '“{title}” is quarantined until it is reviewed: {reason} Its link shows a warning. You can appeal.',
      values,
    ),
  'item.taken_down': (values) => t('“{title}” was taken down: {reason} You can appeal.', values),
  'credits.low': (values) => t('{credits} credits are left. Send more from your wallet.', values),
}

/** Returns the text of a note in the words and the language of a person. */
function noteText({ kind, text, messages }: Note): Html {
  const [first] = messages ?? []
  const own = first && ownWords[kind]?.(first.values)
  if (!messages || currentLanguage() === 'en') {
    return html`<bdi dir="ltr">${isolateQuotes(own ?? text)}</bdi>`
  }
  // A title at its start has no say in the direction of the sentence.
  return html`<bdi dir="${languages[currentLanguage()].dir}">${own ?? textOf(messages)}</bdi>`
}

/** A dot before what is unread. */
const unreadMark: Html = html`<span class="unread-mark"
  ><span class="visually-hidden">Unread: </span></span
>`

interface RowOptions {
  href: string
  /** The cover of the item, or the flag of an agent. */
  image: Part
  isUnread: boolean
  text: Part
  /** Its time. */
  age: Part
  /** The quiet words below the text. */
  fact?: Part
  /** The part below the link. */
  more?: Part
}

/** Renders a row, which is one link. */
export const notificationRow = (options: RowOptions): Html => {
  const { href, image, isUnread, text, age, fact, more } = options
  return html`<li>
    <a class="note" href="${href}"
      >${image}<span class="note-text">${isUnread && unreadMark}${text}</span
      >${fact !== undefined && html`<span class="note-fact small">${fact}</span>`}<span
        class="note-age small"
        >${age}</span
      ></a
    >${more}
  </li>`
}

/** An item as a row shows it. */
interface NotedItem {
  title: string
  cover: Html
  isOwn: boolean
  isOnExplore: boolean
}

/** Finds the items of notes: own ones in every state, those of others on Explore. */
async function findItems(ctx: AppContext, notes: AgentNote[]): Promise<Map<string, NotedItem>> {
  const ids = [...new Set(notes.flatMap(({ note }) => note.item ?? []))]
  const agents = new Set(notes.map(({ note }) => note.agent))
  const [found, tiles] = await Promise.all([
    Promise.all(ids.map((id) => apps.findApp(ctx, id))),
    listTilesByIds(ctx, ids),
  ])
  const items = new Map(
    tiles.map((tile) => {
      const cover = itemCover(ctx, tile, { widths: 'thumbnail' })
      return [tile.id, { title: tile.title, cover, isOwn: false, isOnExplore: true }]
    }),
  )
  for (const app of found) {
    if (!app || !agents.has(app.maker)) continue
    const cover = ownCover(ctx, app, 'thumbnail')
    const isOnExplore = items.has(app.id)
    items.set(app.id, { title: app.title, cover, isOwn: true, isOnExplore })
  }
  return items
}

/** The pages that notes lead to, for those about an item. */
const itemPlaces: Partial<Record<NoteKind, (id: string) => string>> = {
  'build.done': (id) => `/studio/${id}/build`,
  'build.failed': (id) => `/studio/${id}/build`,
  'app.error': (id) => `/studio/${id}/errors`,
  'app.delisted': (id) => `/studio/${id}/safety`,
  'report.opened': (id) => `/studio/${id}/safety`,
  'item.taken_down': (id) => `/studio/${id}/safety`,
  'item.restored': (id) => `/studio/${id}`,
  'appeal.decided': (id) => `/studio/${id}/safety`,
  'app.opened_100': (id) => `/studio/${id}`,
  'remix.made': (id) => `/explore/${id}/family`,
  'remix.sold': (id) => `/explore/${id}/family`,
  'review.new': (id) => `/explore/${id}#reviews`,
  'review.answered': (id) => `/explore/${id}#reviews`,
  'comment.new': (id) => `/explore/${id}#comments`,
  'comment.reply': (id) => `/explore/${id}#comments`,
}

/** The parts of an agent's page that notes about no item lead to. */
const agentPlaces: Partial<Record<NoteKind, string>> = {
  'credits.received': '/ledger',
  'credits.low': '/ledger',
  'topup.settled': '/ledger',
  'share.paid': '/ledger',
  'key.revoked': '/keys',
  'cap.changed': '/settings',
}

/** Returns the page of an item: on Explore where it is, else in the studio of its owner. */
const pageOf = (id: string, item: NotedItem | undefined): string =>
  item?.isOwn && !item.isOnExplore ? `/studio/${id}` : `/explore/${id}`

function placeOf({ kind, item: id, data }: Note, handle: string, item?: NotedItem): string {
  const { run } = data
  if (kind.startsWith('run.') && typeof run === 'string') return `/runs/${run}`
  if (id === null || agentPlaces[kind]) return `/agents/${handle}${agentPlaces[kind] ?? ''}`
  const path = itemPlaces[kind]?.(id)
  const needsExplore = path === undefined || path.startsWith('/explore/')
  return needsExplore && !item?.isOnExplore ? pageOf(id, item) : (path ?? pageOf(id, item))
}

/** The words of a group for each kind of note that may happen several times a day. */
const counts: Partial<Record<NoteKind, (count: number) => string>> = {
  'review.new': (count) => formatCount(count, 'review'),
  'review.answered': (count) => formatCount(count, 'reply', 'replies'),
  'comment.new': (count) => formatCount(count, 'comment'),
  'comment.reply': (count) => formatCount(count, 'reply', 'replies'),
  'remix.made': (count) => formatCount(count, 'remix', 'remixes'),
  'remix.sold': (count) => formatCount(count, 'sold remix', 'sold remixes'),
  'build.done': (count) => formatCount(count, 'build'),
  'build.failed': (count) => formatCount(count, 'failed build'),
  'share.paid': (count) => formatCount(count, 'paid share'),
}

/** The words of a group for what happens once. */
const events: Partial<Record<NoteKind, Text>> = {
  'app.listed': msg('now on Explore'),
  'app.delisted': msg('now off Explore'),
  'app.opened_100': msg('100 opens'),
  'app.error': msg('errors in the app'),
  'report.opened': msg('quarantined'),
  'item.taken_down': msg('taken down'),
  'item.restored': msg('live again'),
  'appeal.decided': msg('appeal decided'),
}

const outcomeWords = {
  worked: (count: number) => t('{count} worked', { count }),
  partly: (count: number) => t('{count} partly', { count }),
  failed: (count: number) => t('{count} failed', { count }),
  abandoned: (count: number) => t('{count} abandoned', { count }),
}

/** Returns what happened to an item on a day: "6 runs, 4 worked, 1 failed". */
function summaryOf(notes: Note[]): Part[] {
  const { runs, outcomes } = countRuns(notes)
  const parts: Part[] = runs > 0 ? [formatCount(runs, 'run')] : []
  for (const [outcome, words] of Object.entries(outcomeWords)) {
    const count = outcomes.get(outcome)
    if (count === undefined) continue
    parts.push(
      outcome === 'failed' ? html`<span class="failed">${words(count)}</span>` : words(count),
    )
  }
  for (const [kind, some] of Map.groupBy(notes, (note) => note.kind)) {
    const words = counts[kind]?.(some.length) ?? events[kind]
    if (words === undefined) continue
    parts.push(some.some(isFailure) ? html`<span class="failed">${words}</span>` : words)
  }
  return parts
}

const enumerations = perLanguage(
  (locale) => new Intl.ListFormat(locale, { type: 'conjunction', style: 'narrow' }),
)

/** Enumerates parts with the commas of the language. */
const joined = (parts: Part[]): Part =>
  enumerations()
    .formatToParts(parts.map((_, at) => String(at)))
    .map(({ type, value }) => (type === 'element' ? parts[Number(value)] : value))

interface ListOptions {
  /** Names the agent of each row, where the list has several. */
  hasHandles: boolean
}

/** Renders notes as rows: one for each item and day. */
export async function noteRows(
  ctx: AppContext,
  notes: AgentNote[],
  { hasHandles }: ListOptions,
): Promise<NotificationRow[]> {
  const now = ctx.clock.now()
  const items = await findItems(ctx, notes)
  return groupNotes(notes).map((group) => {
    const { item: id, handle, at, hasFailed } = group
    const item = id === null ? undefined : items.get(id)
    const fact = hasHandles ? html`<bdi>@${handle}</bdi>` : undefined
    const image = item?.cover ?? renderAvatar(handle)
    const shared = { image, fact, age: renderAge(at, now), isUnread: group.isUnread }
    return { at, hasFailed, row: groupRow(group, shared, item, now) }
  })
}

function groupRow(
  { notes, item: id, handle }: NoteGroup,
  shared: Pick<RowOptions, 'image' | 'fact' | 'age' | 'isUnread'>,
  item: NotedItem | undefined,
  now: number,
): Html {
  const [first] = notes
  if (!first) return html``
  if (notes.length === 1 || id === null) {
    return notificationRow({ ...shared, href: placeOf(first, handle, item), text: noteText(first) })
  }
  const text = html`<strong><bdi>${item?.title ?? t('An item')}</bdi></strong
    >: ${joined(summaryOf(notes))}`
  const more = html`<details>
    <summary>${t('Show all {count}', { count: notes.length })}</summary>
    <ul>
      ${notes.map(
        (note) =>
          html`<li>
            <a href="${placeOf(note, handle, item)}">${noteText(note)}</a>
            <span class="small">${renderAge(note.at, now)}</span>
          </li>`,
      )}
    </ul>
  </details>`
  return notificationRow({ ...shared, href: pageOf(id, item), text, more })
}

/** Renders rows by day: the newest day first, and in each day what failed first. */
export function notificationDays(rows: NotificationRow[], now: number): Html[] {
  const days = [...Map.groupBy(rows, ({ at }) => utcDay(at))].toSorted(([a], [b]) =>
    a < b ? 1 : -1,
  )
  return days.map(
    ([date, members]) =>
      html`<section class="day">
        <h2 id="day-${date}">${dayName(date, now)}</h2>
        <ul class="notes" aria-labelledby="day-${date}">
          ${members
            .toSorted((a, b) => Number(b.hasFailed) - Number(a.hasFailed) || b.at - a.at)
            .map(({ row }) => row)}
        </ul>
      </section>`,
  )
}

function dayName(date: string, now: number): Part {
  if (date === utcDay(now)) return t('Today')
  return date === utcDay(now - day) ? t('Yesterday') : renderDate(`${date}T00:00:00Z`)
}
