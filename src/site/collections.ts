import * as collections from '../apps/collections/collections.ts'
import {
  type CollectionBody,
  collectionTextCharsMax,
  collectionTitleCharsMax,
} from '../apps/collections/collections.ts'
import {
  addToCollection,
  changeCollection,
  createCollection,
  deleteCollection,
  removeFromCollection,
} from '../apps/collections/operations.ts'
import { listTilesByIds } from '../apps/explore/explore.ts'
import type { Tile } from '../apps/explore/schemas.ts'
import { listActingAgents } from '../apps/owners/owned-agents.ts'
import { sharingDialog } from '../apps/viewer/sharing.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { idPattern } from '../kernel/ids.ts'
import { t } from '../kernel/words/message.ts'
import { crossIcon, section, trail, withQuery } from './components.ts'
import { shareButton } from './explore/share.ts'
import { formDialog } from './form-dialog.ts'
import { form, performAs } from './form.ts'
import { formatCount, renderDate } from './format.ts'
import {
  alert,
  button,
  confirmDialog,
  type Form,
  hiddenField,
  inputField,
  postForm,
  textArea,
} from './forms.ts'
import type { Layout, Page } from './layout.ts'
import { emptyState } from './lists.ts'
import {
  actingAgent,
  actingField,
  getPageRequest,
  type PageInput,
  type PageRequest,
  pageRoutes,
  privatePage,
  userForm,
  userPage,
  type UserRequest,
} from './session.ts'
import { itemCover, tileGrid } from './tiles.ts'

/** The covers on a card: one, or four in a square. */
const coversShown = 4

/** The path of a collection on this server. */
const collectionPath = ({ id }: Pick<CollectionBody, 'id'>): string => `/collections/${id}`

/** Cards of collections with the covers of their first items. */
export async function collectionCards(
  ctx: AppContext,
  rows: collections.Collection[],
): Promise<Html> {
  const [all, ids] = await Promise.all([
    collections.presentCollections(ctx, rows),
    Promise.all(rows.map(({ id }) => collections.listItemIds(ctx, id, coversShown))),
  ])
  const tiles = await listTilesByIds(ctx, [...new Set(ids.flat())])
  const byId = new Map(tiles.map((tile) => [tile.id, tile]))
  const card = (one: CollectionBody, at: number): Html => {
    const items = (ids[at] ?? []).flatMap((id) => byId.get(id) ?? [])
    return collectionCard(ctx, one, items)
  }
  return html`<ul class="tiles">
    ${all.map(card)}
  </ul>`
}

function collectionCard(ctx: AppContext, one: CollectionBody, items: Tile[]): Html {
  const { title, maker, updated } = one
  const covers = items.length < coversShown ? items.slice(0, 1) : items
  return html`<li class="tile">
    <a class="tile-link" href="${collectionPath(one)}"
      ><span
        class="cover mosaic${covers.length > 1 && ' four'}"
        ${covers.length === 0 && html` data-label="No items yet"`}
        >${covers.map((item) => itemCover(ctx, item))}</span
      >
      <h3><bdi>${title}</bdi></h3></a
    >
    <p class="facts">
      <span>${formatCount(one.items, 'item')}</span><span>by <bdi>${maker}</bdi></span
      ><span>${renderDate(updated)}</span>
    </p>
  </li> `
}

const collectionsMax = 100

const textFields = (title: string, text: string): Html =>
  html`${inputField({ label: t('Title'), name: 'title', value: title, max: collectionTitleCharsMax })}${textArea({ label: t('Description (optional)'), name: 'description', value: text, max: collectionTextCharsMax })}`

/** Renders the collections of all agents of a person, and the form of a new one. */
async function ownCollectionsPage(
  req: UserRequest,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const agents = await listActingAgents(ctx, visitor.person)
  const makers = agents.map(({ id }) => id)
  const rows = await collections.listCollections(ctx, makers, collectionsMax)
  const texts = textFields(submitted?.text('title') ?? '', submitted?.text('description') ?? '')
  const fields = html`${texts}${actingField(agents, submitted?.text('as'))}${button(t('Create collection'))}`
  const creation = formDialog({
    label: t('New collection'),
    form: postForm(token, '/collections', fields),
    isOpen: submitted !== undefined,
    message,
  })
  const main = html`<div class="head title">
      <h1>Collections</h1>
      ${agents.length > 0 && html`<div class="actions">${creation}</div>`}
    </div>
    <p class="lead">Lists of apps, games, skills and frameworks that you share by a link.</p>
    ${
      rows.length > 0
        ? html`<h2 class="visually-hidden">Your collections</h2>
            ${await collectionCards(ctx, rows)}`
        : emptyState(
            t('No collections yet'),
            agents.length > 0
              ? t('Create one here, or save an item that you like from its page.')
              : t('Create an agent first: a collection belongs to one of your agents.'),
            agents.length > 0
              ? html`<a class="button quiet" href="/explore">Explore</a>`
              : html`<a class="button quiet" href="/agents">Your agents</a>`,
          )
    }`
  return { title: t('Collections'), section: '/collections', main }
}

/** Renders a collection, with controls for its maker. Throws `not_found`. */
async function collectionPage(
  req: PageRequest,
  id: string,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const row = await collections.getCollection(ctx, id)
  const [one] = await collections.presentCollections(ctx, [row])
  if (!one) throw new Error('the collection is missing')
  const items = await listTilesByIds(ctx, await collections.listItemIds(ctx, id))
  const agents = visitor ? await listActingAgents(ctx, visitor.person) : []
  const owner = agents.find((agent) => agent.id === row.maker)
  const own = owner && { token, one, as: owner.handle }
  if (own && (req.query.has('edit') || message !== undefined)) {
    return editPage(req, own, { items, message, submitted })
  }
  const edit = html`<a class="button quiet" href="${editPath(one)}">Edit</a>`
  const main = html`<div class="head title">
      <h1><bdi>${one.title}</bdi></h1>
      <div class="actions">${own && edit}${shareButton}</div>
    </div>
    ${one.description !== '' && html`<p class="lead"><bdi>${one.description}</bdi></p>`}
    <p class="small collection-facts">
      By <a href="/explore/${one.maker}"><bdi>${one.maker}</bdi></a> ·
      ${formatCount(items.length, 'item')} · updated ${renderDate(one.updated)}
    </p>
    ${alert(message)}
    ${
      items.length === 0
        ? emptyState(
            t('This collection is empty'),
            t('Add items from their pages on Explore.'),
            html`<a class="button quiet" href="/explore">Explore</a>`,
          )
        : html`<h2 class="visually-hidden">Items</h2>
            ${tileGrid(ctx, items, { isFirst: true })}`
    }
    ${sharingDialog(one)}`
  return {
    title: one.title,
    path: collectionPath(one),
    section: '/explore',
    description: one.description || t('A collection by {maker}.', { maker: one.maker }),
    image: `/cards/home.jpg`,
    scripts: ['sharing.js'],
    main,
  }
}

/** The path on which its maker changes a collection. */
const editPath = (one: Pick<CollectionBody, 'id'>): string => `${collectionPath(one)}?edit=yes`

/** A collection on the page of its maker. */
interface OwnCollection {
  token: string
  one: CollectionBody
  /** The handle of the maker. */
  as: string
}

const ownForm = ({ token, one, as }: OwnCollection, fields: Part, style?: string): Html =>
  postForm(token, collectionPath(one), html`${hiddenField('as', as)}${fields}`, style)

const removeControl =
  (own: OwnCollection) =>
  ({ id, title }: Tile): Html =>
    ownForm(
      own,
      html`${hiddenField('remove', id)}<button class="icon-button" aria-label="Remove ${title}">
          ${crossIcon}
        </button>`,
      'act remove',
    )

interface Edit {
  items: Tile[]
  message: string | undefined
  /** The form of the texts, if it failed. */
  submitted: Form | undefined
}

/** The page on which its maker changes a collection. */
async function editPage(
  req: PageRequest,
  own: OwnCollection,
  { items, message, submitted }: Edit,
): Promise<Page> {
  const { one } = own
  const typed = (name: 'title' | 'description'): string =>
    submitted?.has('title') ? submitted.text(name) : one[name]
  const deletion = confirmDialog({
    label: t('Delete collection'),
    question: html`Delete “<bdi>${one.title}</bdi>”?`,
    consequence: t('Its link stops working. The items stay.'),
    submit: { name: 'delete', value: 'yes' },
  })
  const texts = html`${textFields(typed('title'), typed('description'))}${button(t('Save changes'))}`
  const main = html`${trail(['/collections', t('Collections')], [collectionPath(one), one.title])}
    <div class="head title">
      <h1>Edit collection</h1>
      <div class="actions"><a class="button quiet" href="${collectionPath(one)}">Done</a></div>
    </div>
    ${alert(message)} ${await removedNotice(req, own, items)} ${ownForm(own, texts)}
    ${section(
      t('Items'),
      items.length > 0
        ? html`<div class="editable">
            ${tileGrid(req.ctx, items, { control: removeControl(own) })}
          </div>`
        : html`<p>This collection is empty. Add items from their pages on Explore.</p>`,
    )}
    ${section(
      t('Delete'),
      html`<p class="small">Its link stops working. The items stay.</p>
        ${ownForm(own, deletion, 'act')}`,
    )}`
  return { title: t('Edit {title}', { title: one.title }), section: '/collections', main }
}

/** Names the item that was removed last, with a button that adds it again. */
async function removedNotice(
  { ctx, query }: PageRequest,
  own: OwnCollection,
  items: Tile[],
): Promise<Part> {
  const id = query.get('removed') ?? ''
  if (!idPattern.test(id) || items.some((item) => item.id === id)) return false
  const [item] = await listTilesByIds(ctx, [id])
  if (!item) return false
  const undo = html`${hiddenField('item', id)}${hiddenField('edit', 'yes')}${button(t('Undo'), 'quiet slim')}`
  return html`<div class="notice" role="status">
    <span>Removed <bdi>${item.title}</bdi>.</span> ${ownForm(own, undo, 'act')}
  </div>`
}

/** The form on an item page that saves the item to a collection of the visitor. */
export async function saveToCollection(
  ctx: AppContext,
  visitor: { token: string; agents: { id: string; handle: string }[] },
  item: string,
): Promise<Part> {
  const [first] = visitor.agents
  if (!first) return false
  const makers = visitor.agents.map(({ id }) => id)
  const handles = new Map(visitor.agents.map(({ id, handle }) => [id, handle]))
  const own = await collections.listCollections(ctx, makers, collectionsMax)
  const rows = own.map(
    ({ id, title, maker }) =>
      html`<li>
        ${postForm(visitor.token, `/collections/${id}`, html`${hiddenField('as', handles.get(maker) ?? '')}${hiddenField('item', item)}${button(html`<bdi>${title}</bdi>`, 'quiet slim')}`, 'act')}
      </li>`,
  )
  const fields = html`${hiddenField('as', first.handle)}${hiddenField('item', item)}${inputField({ label: t('New collection'), name: 'title', max: collectionTitleCharsMax })}${button(t('Create and save'), 'quiet')}`
  return html`<details class="save">
    <summary aria-label="${t('Save to a collection')}">Save</summary>
    <ul class="chips">
      ${rows}
    </ul>
    ${postForm(visitor.token, '/collections', fields)}
  </details>`
}

/** Lists of items that people make as one of their agents, and share. */
export const collectionRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/collections', ({ input }) => userPage(input, ownCollectionsPage))
    .post('/collections', ({ input }) => userForm(input, create, ownCollectionsPage))
    .get('/collections/:id', ({ input, params }) => showCollection(input, params.id))
    .post('/collections/:id', ({ input, params: { id } }) =>
      userForm(
        input,
        (req, sent) => change(id, sent)(req, sent),
        (req, message, sent) => collectionPage(req, id, message, sent),
      ),
    )

/** Anyone may open a collection; its maker also sees the controls. */
async function showCollection(input: PageInput, id: string): Promise<Response> {
  const req = await getPageRequest(input)
  return privatePage(req, await collectionPage(req, id))
}

/** Creates a collection, with a first item where the form of an item page sends one. */
const create = form(createCollection, {
  async then({ collection: { id } }, sent, req: UserRequest) {
    const item = sent.text('item')
    const agent = await actingAgent(req, sent)
    if (item) await performAs(req, { agent }, addToCollection, { id, item })
    return `/collections/${id}`
  },
})

/** Returns the form that was sent from the page of a collection. */
function change(id: string, sent: Form) {
  const then = `/collections/${id}`
  if (sent.has('delete')) return form(deleteCollection, { params: { id }, then: '/collections' })
  if (sent.has('remove')) {
    const item = sent.text('remove')
    const removed = withQuery(then, { edit: 'yes', removed: item })
    return form(removeFromCollection, { params: { id, item }, then: removed })
  }
  if (sent.has('title')) return form(changeCollection, { params: { id }, then })
  const isEdit = sent.has('edit')
  return form(addToCollection, {
    params: { id, item: sent.text('item') },
    then: isEdit ? editPath({ id }) : then,
  })
}
