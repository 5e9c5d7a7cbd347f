import * as apps from '../../apps/apps.ts'
import { listTilesByIds } from '../../apps/explore/explore.ts'
import { presentItem } from '../../apps/present.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { idPattern } from '../../kernel/ids.ts'
import { msg, t } from '../../kernel/words/message.ts'
import type { Agent } from '../../people/agents/agents.ts'
import { formatCount } from '../format.ts'
import { itemCover } from '../tiles.ts'
import { wireWord } from '../wire-words.ts'

const states = {
  live: '',
  building: msg('building'),
  taken_down: msg('taken down'),
  closed: msg('deleted'),
}

/** Facts about an item for its owner. */
export function ownAppFacts(ctx: AppContext, app: apps.App): string[] {
  const { kind, state, listed, opens, version } = presentItem(ctx, app)
  const place = listed === 'on' ? t('on Explore') : ''
  const facts = [
    wireWord(kind),
    t(states[state]),
    version > 1 ? t('version {version}', { version }) : '',
    opens > 0 ? formatCount(opens, 'open') : '',
    place,
  ]
  return facts.filter((fact) => fact !== '')
}

/** The cover of an item; its icon or generated art where its images are not served. */
export function ownCover(ctx: AppContext, app: apps.App, widths: 'tile' | 'thumbnail'): Html {
  const { id, kind, shelf, icon, cover } = presentItem(ctx, app)
  const isServed = app.quarantinedAt === null && app.takenDown === null
  const shown = { id, kind, shelf, icon: isServed ? icon : null, cover: isServed ? cover : null }
  return itemCover(ctx, shown, { widths })
}

/** An item in a grid of covers. */
export const ownAppTile = (
  ctx: AppContext,
  app: apps.App,
  { href, facts = [], links = false }: { href: string; facts?: string[]; links?: Part },
): Html =>
  html`<li class="tile">
    <a class="tile-link" href="${href}"
      >${ownCover(ctx, app, 'tile')}
      <h3><bdi>${app.title}</bdi></h3></a
    >${facts.length > 0 && html`<p class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</p>`}${links}
  </li>`

/** Returns links to the items of an agent's transactions by their ids, with their titles. */
export async function findItemLinks(
  ctx: AppContext,
  agent: Pick<Agent, 'id'>,
  entries: readonly { item: string | null }[],
): Promise<Map<string, Html>> {
  const ids = [...new Set(entries.flatMap(({ item }) => item ?? []))]
  const [tiles, found] = await Promise.all([
    listTilesByIds(
      ctx,
      ids.filter((id) => idPattern.test(id)),
    ),
    Promise.all(ids.map((id) => apps.findApp(ctx, id))),
  ])
  const link = (path: string, title: string): Html =>
    html`<a href="${path}"><bdi>${title}</bdi></a>`
  const own = found.flatMap((app) =>
    app?.maker === agent.id ? [[app.id, link(`/studio/${app.id}`, app.title)] as const] : [],
  )
  return new Map([
    ...tiles.map(({ id, title }) => [id, link(`/explore/${id}`, title)] as const),
    ...own,
  ])
}
