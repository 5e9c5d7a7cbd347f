import * as explore from '../../apps/explore/explore.ts'
import type { Item, ItemPage, Tile } from '../../apps/explore/schemas.ts'
import { isPackKind } from '../../apps/kinds.ts'
import {
  addComment,
  pinComment,
  removeComment,
  removeReview,
  reviewItem,
} from '../../apps/reviews/operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { cardKey } from '../cards.ts'
import { saveToCollection } from '../collections.ts'
import { countFact, openLabel, playIcon, starRating, statList } from '../components.ts'
import { followControl } from '../follow-control.ts'
import { form } from '../form.ts'
import { renderDate } from '../format.ts'
import type { Form } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { packPage } from '../packs/pack-page.ts'
import { imagePath } from '../paths.ts'
import { sendPage } from '../public-pages.ts'
import {
  findUser,
  type PageInput,
  pageRoutes,
  privatePage,
  redirectTo,
  userForm,
  type UserRequest,
} from '../session.ts'
import { renderShelf } from '../shelves.ts'
import { playHere } from '../tiles.ts'
import {
  agentSection,
  familySection,
  itemChips,
  itemRemixes,
  itemTitle,
  logSection,
  remixControl,
  reportLink,
  useLine,
} from './item-sections.ts'
import { sendMaker } from './maker.ts'
import { type FailedForm, getItemVisitor, type ItemVisitor, renderFeedback } from './reviews.ts'
import { itemSharing, shareButton } from './share.ts'

/** An item with the rows below it. */
interface PageItem extends ItemPage {
  /** Other items of the maker, and others of the shelf. */
  more: Tile[]
  similar: Tile[]
}

const rowTiles = 5

async function readPageItem(ctx: AppContext, id: string): Promise<PageItem> {
  const found = await explore.getItem(ctx, id)
  const { maker, shelf } = found.item
  const [more, popular] = await Promise.all([
    explore.listTiles(ctx, { maker, limit: rowTiles }),
    explore.listTiles(ctx, { shelf, sort: 'played', limit: 2 * rowTiles }),
  ])
  const similar = popular.items.filter((one) => one.id !== id && one.maker !== maker)
  return { ...found, more: more.items, similar: similar.slice(0, rowTiles - 1) }
}

/**
 * Renders the page of an item, with forms for a signed-in person. Throws `not_found`, `taken_down`.
 */
async function itemPage(
  ctx: AppContext,
  id: string,
  query: URLSearchParams,
  visitor?: ItemVisitor,
): Promise<Page> {
  const found = await readPageItem(ctx, id)
  const { item } = found
  if (isPackKind(item.kind)) return packPage(ctx, found, query, visitor)
  const { title, description, maker } = item
  const rest = found.more.filter(({ id: other }) => other !== id)
  return {
    title: t('{title} by {maker}', { title, maker }),
    path: `/explore/${id}`,
    section: '/explore',
    description: description || t('An app by {maker}.', { maker }),
    image: `/cards/${id}.jpg?${cardKey(item)}`,
    plays: true,
    scripts: ['copy-line.js', 'play-here.js', 'sharing.js'],
    main: html`${await itemHeader(ctx, found, visitor)}
      <div class="item-columns">
        <div>${await renderFeedback(ctx, item, query, visitor)}</div>
        <div>${familySection(ctx, found)}${logSection(found)}</div>
      </div>
      ${itemRemixes(ctx, found)}
      ${rest.length > 0 && renderShelf(ctx, { title: t('More by {maker}', { maker }), items: rest, more: `/explore/${maker}` })}
      ${found.similar.length > 0 && renderShelf(ctx, { title: t('You may also like'), items: found.similar, more: `/explore?shelf=${item.shelf}` })}
      ${await agentSection(ctx, item)}`,
  }
}

async function itemHeader(
  ctx: AppContext,
  found: PageItem,
  visitor: ItemVisitor | undefined,
): Promise<Html> {
  const { item, screenshots } = found
  const { title, description, maker } = item
  return html`<article class="item">
    <div class="stage">${playHere(ctx, item)}${screenshotStrip(ctx, title, screenshots)}</div>
    <div class="about">
      ${itemTitle(item, await followControl(ctx, maker, visitor, item.id))} ${facts(item)}
      <div class="actions">
        ${itemActions(item, visitor)}${visitor && (await saveToCollection(ctx, visitor, item.id))}
      </div>
      ${description !== '' && html`<p class="text"><bdi>${description}</bdi></p>`}
      ${itemChips(item)} ${useLine(found)}
      ${stats(item)}${!visitor?.isOwner && reportLink(item)}${itemSharing(ctx, item)}
    </div>
  </article>`
}

/** Rating, plays and the price of a remix, in one line. */
const facts = (item: Item): Html =>
  html`<p class="facts">
    ${starRating(item.rating)}${countFact(item.opens, 'play')}${countFact(item.remixes, 'remix', 'remixes')}
  </p>`

const screenshotStrip = (ctx: AppContext, title: string, all: PageItem['screenshots']): Part =>
  all.length > 0 &&
  html`<ul class="screenshots" aria-label="Screenshots">
    ${all.map(
      ({ position, large, small }) =>
        html`<li>
          <a href="${imagePath(ctx, large)}"
            ><img
              src="${imagePath(ctx, small)}"
              alt="Screenshot ${position} of ${title}"
              width="480"
              height="300"
              loading="lazy"
          /></a>
        </li>`,
    )}
  </ul>`

/** Opens the studio of an own app; remixes another's. */
function itemActions(item: Item, visitor: ItemVisitor | undefined): Part {
  const { id } = item
  const open = html`<a class="button" href="/a/${id}">${playIcon}${openLabel(item)}</a>`
  if (visitor?.isOwner) {
    return html`${open}<a class="button quiet" href="/studio/${id}/build">Open in studio</a
      >${shareButton}`
  }
  return html`${open}${remixControl(item, visitor)}${shareButton}`
}

const stats = ({ published, updated, version }: Item): Html =>
  statList([
    [t('Version'), version],
    [t('Published'), renderDate(published)],
    [t('Updated'), renderDate(updated)],
  ])

/** The page of an item, with reviews and comments of signed-in people as one of their agents. */
export const itemRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/explore/:name', ({ input, params: { name } }) =>
      name.startsWith('@') ? sendMaker(input, name) : sendItem(input, name),
    )
    .get('/explore/:name/next', async ({ params }) => redirectTo(await nextPath(ctx, params.name)))
    .get('/explore/:name/review', ({ params }) => redirectTo(itemPath(params.name, 'reviews')))
    .post('/explore/:name/review', ({ input, params: { name } }) =>
      userForm(
        input,
        (req, sent) => reviewForm(name, sent)(req, sent),
        (req, message, submitted) => getItemPage(req, name, { name: 'review', message, submitted }),
      ),
    )
    .get('/explore/:name/comments', ({ params }) => redirectTo(itemPath(params.name, 'comments')))
    .post('/explore/:name/comments', ({ input, params: { name } }) =>
      userForm(
        input,
        (req, sent) => commentForm(name, sent)(req, sent),
        (req, message, submitted) =>
          getItemPage(req, name, { name: 'comments', message, submitted }),
      ),
    )

const itemPath = (id: string, section: 'reviews' | 'comments'): string =>
  `/explore/${encodeURIComponent(id)}#${section}`

async function sendItem(input: PageInput, id: string): Promise<Response> {
  const { ctx, query } = input
  const req = await findUser(input)
  if (req) return privatePage(req, await getItemPage(req, id))
  const parts = ['reviews', 'comments', 'file'].map((part) => query.get(part) ?? '')
  return sendPage(input, JSON.stringify([id, ...parts]), () => itemPage(ctx, id, query))
}

/** Most played items that "Next" walks through. */
const nextItemsMax = 100

/**
 * Returns the path of the next most played item of the same kind. After the last, starts again.
 * Throws `not_found`, `taken_down`.
 */
async function nextPath(ctx: AppContext, id: string): Promise<string> {
  const { kind } = (await explore.getItem(ctx, id)).item
  const { items } = await explore.listTiles(ctx, { kind, sort: 'played', limit: nextItemsMax })
  const at = items.findIndex((one) => one.id === id)
  return `/a/${(items[at + 1] ?? items[0])?.id ?? id}`
}

const getItemPage = async (req: UserRequest, id: string, failed?: FailedForm): Promise<Page> =>
  itemPage(req.ctx, id, req.query, await getItemVisitor(req, id, failed))

const reviewForm = (id: string, sent: Form) =>
  sent.has('remove')
    ? form(removeReview, { params: { id }, then: itemPath(id, 'reviews') })
    : form(reviewItem, { params: { id }, then: itemPath(id, 'reviews') })

/** Adds a comment or a reply, or pins or removes a comment. */
function commentForm(id: string, sent: Form) {
  const [removed, pinned, then] = [sent.text('remove'), sent.text('pin'), itemPath(id, 'comments')]
  if (pinned) return form(pinComment, { params: { id: pinned }, then })
  if (removed) return form(removeComment, { params: { id: removed }, then })
  return form(addComment, { params: { id }, then })
}
