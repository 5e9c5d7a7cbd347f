import type { AppContext } from '../../context.ts'
import { type Html, html, type Part } from '../../core/html.ts'
import * as collections from '../../hosting/collections/collections.ts'
import {
  collectionTextCharsMax,
  collectionTitleCharsMax,
} from '../../hosting/collections/limits.ts'
import type { CollectionBody } from '../../hosting/collections/schemas.ts'
import { listTilesByIds } from '../../hosting/explore/explore.ts'
import type { Tile } from '../../hosting/explore/schemas.ts'
import { listActingAgents } from '../../hosting/people/owned-agents.ts'
import { copyLine } from '../components.ts'
import { confirmDialog } from '../confirm-dialog.ts'
import { actingField } from '../explore/visitor.ts'
import { formatCount, renderDate } from '../format.ts'
import { alert, button, type Form, form, hiddenField, inputField, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState, itemList } from '../lists.ts'
import type { PageRequest, UserRequest } from '../session.ts'
import { tileGrid } from '../tiles.ts'

const collectionsMax = 100

/** The path of a collection on this server. */
const pathOf = ({ id }: Pick<CollectionBody, 'id'>): string => `/collections/${id}`

export const collectionRow = (one: CollectionBody): Html =>
  html`<li>
    <a href="${pathOf(one)}"><bdi>${one.title}</bdi></a
    ><br /><span class="small"
      >${formatCount(one.items, 'item')} · by ${one.maker} · updated
      ${renderDate(one.updated)}</span
    >
  </li>`

/** Renders the collections of all agents of a person, and the form of a new one. */
export async function ownCollectionsPage(
  req: UserRequest,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const agents = await listActingAgents(ctx, visitor.person)
  const makers = agents.map(({ id }) => id)
  const rows = await collections.listCollections(ctx, makers, collectionsMax)
  const own = await collections.presentCollections(ctx, rows)
  const [title, text] = [submitted?.text('title') ?? '', submitted?.text('description') ?? '']
  const fields = html`${inputField({ label: 'Title', name: 'title', value: title, max: collectionTitleCharsMax })}${textArea({ label: 'Description (optional)', name: 'description', value: text, max: collectionTextCharsMax })}${actingField(agents, submitted?.text('as'))}${button('Create collection')}`
  const main = html`<div class="narrow">
    <h1>Collections</h1>
    <p class="lead">Lists of apps, games, skills and frameworks that you share by a link.</p>
    ${alert(message)}
    ${itemList(own.map(collectionRow), emptyState('No collections yet', 'Create one here, or from the page of an item you like.'))}
    <section>
      <h2>New collection</h2>
      ${
        agents.length === 0
          ? html`<p><a href="/agents">Create an agent</a> first.</p>`
          : form(token, '/collections', fields)
      }
    </section>
  </div>`
  return { title: 'Collections', section: '/collections', main }
}

/** Renders a collection, with controls for its maker. Throws `not_found`. */
export async function collectionPage(
  req: PageRequest,
  id: string,
  message?: string,
): Promise<Page> {
  const { ctx, token, visitor } = req
  const row = await collections.getCollection(ctx, id)
  const [one] = await collections.presentCollections(ctx, [row])
  const items = await listTilesByIds(ctx, await collections.listItemIds(ctx, id))
  const agents = visitor ? await listActingAgents(ctx, visitor.person) : []
  const owner = agents.find((agent) => agent.id === row.maker)
  if (!one) throw new Error('the collection is missing')
  const main = html`<h1><bdi>${one.title}</bdi></h1>
    <p class="small">
      by <a href="/explore/${one.maker}">${one.maker}</a> · ${formatCount(items.length, 'item')} ·
      updated ${renderDate(one.updated)}
    </p>
    ${one.description !== '' && html`<p class="lead"><bdi>${one.description}</bdi></p>`}
    ${alert(message)}
    ${
      items.length === 0
        ? emptyState(
            'This collection is empty',
            'Add items from their pages on Explore.',
            html`<a class="button quiet" href="/explore">Explore</a>`,
          )
        : tileGrid(ctx, items, { isFirst: true })
    }
    <section>
      <h2>Share</h2>
      ${copyLine(one.link, 'Link')}
    </section>
    ${owner && ownerControls(token, one, owner.handle, items)}`
  return {
    title: one.title,
    path: pathOf(one),
    section: '/explore',
    isWide: true,
    description: one.description || `A collection by ${one.maker}.`,
    image: `/cards/home.jpg`,
    scripts: ['copy-line.js'],
    main,
  }
}

function ownerControls(token: string, one: CollectionBody, as: string, items: Tile[]): Html {
  const remove = ({ id, title }: Tile): Html =>
    html`<li>
      <bdi>${title}</bdi>
      ${form(token, pathOf(one), html`${hiddenField('as', as)}${hiddenField('remove', id)}${button(html`Remove<span class="visually-hidden"> ${title}</span>`, 'quiet slim')}`, 'act')}
    </li>`
  const deletion = html`${hiddenField('as', as)}${confirmDialog({
    label: 'Delete collection',
    question: html`Delete “<bdi>${one.title}</bdi>”?`,
    consequence: 'Its link stops working. The items stay.',
    submit: { name: 'delete', value: 'yes' },
  })}`
  return html`<section>
    <h2>Edit</h2>
    ${itemList(items.map(remove), false)} ${form(token, pathOf(one), deletion, 'act')}
  </section>`
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
        ${form(visitor.token, `/collections/${id}`, html`${hiddenField('as', handles.get(maker) ?? '')}${hiddenField('item', item)}${button(html`<bdi>${title}</bdi>`, 'quiet slim')}`, 'act')}
      </li>`,
  )
  const fields = html`${hiddenField('as', first.handle)}${hiddenField('item', item)}${inputField({ label: 'New collection', name: 'title', max: collectionTitleCharsMax })}${button('Create and save', 'quiet')}`
  return html`<details class="save">
    <summary>Save to a collection</summary>
    <ul class="chips">
      ${rows}
    </ul>
    ${form(visitor.token, '/collections', fields)}
  </details>`
}
