import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { checkPath } from '../../core/path.ts'
import { ApiError } from '../../errors.ts'
import { suspended } from '../../hosting/agents/suspension.ts'
import { theOwnedApp } from '../../hosting/people/owned-apps.ts'
import { assetBytesMax, formBytesMax } from '../../limits.ts'
import type { Layout, Page } from '../layout.ts'
import { queryOf } from '../parts.ts'
import { suspendedNote } from '../people/agents.ts'
import { asOwn, goTo, type Own, ownPage, shown, takeForm } from '../people/desk.ts'
import { theAct } from './acts.ts'
import { assetsPage } from './assets.ts'
import { changesPage } from './changes.ts'
import { gonePage } from './gone.ts'
import { listingPage } from './listing.ts'
import { overviewPage } from './overview.ts'
import { safetyPage } from './safety.ts'
import { at, isTab, type Studio, type Tab } from './studio.ts'
import { versionsPage } from './versions.ts'

type View = (studio: Studio, query: URLSearchParams) => Page | Promise<Page>

const views: Record<Tab, View> = {
  '': overviewPage,
  versions: versionsPage,
  assets: assetsPage,
  listing: listingPage,
  safety: safetyPage,
}

/** What a form beside its file may have. */
const aroundMax = formBytesMax

/** Where the owner of an agent looks after what it made. */
export const studioPages = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .onTransform(({ params }) => checkPath(params))
    .get('/studio/:id', ({ request, params: { id } }) =>
      ownPage({ ctx, layout, request }, (own) => view(own, id, '')),
    )
    .get('/studio/:id/:name', ({ request, params: { id, name } }) =>
      ownPage({ ctx, layout, request }, (own) => view(own, id, name)),
    )
    .post(
      '/studio/:id/:act',
      ({ request, params: { id, act } }) =>
        asOwn({ ctx, layout, request }, (own) => run(own, id, act)),
      { parse: 'none' },
    )

type Said = Pick<Studio, 'said' | 'sent' | 'note'>

async function view(own: Own, id: string, name: string, said: Said = {}): Promise<Page> {
  const draw = name === 'changes' ? changesPage : isTab(name) ? views[name] : undefined
  if (!draw)
    throw new ApiError('not_found', { what: 'page', see: 'The studio links to its pages.' })
  const owned = await theOwnedApp(own.ctx, own.visitor.person, id)
  const studio = { ...owned, own, said: suspendedNote(owned.agent), ...said }
  const { closed, takenDown } = owned.app
  if (closed !== null || takenDown !== null) return gonePage(studio)
  return draw(studio, queryOf(own.request))
}

async function run(own: Own, id: string, name: string): Promise<Response> {
  const { tab, work } = theAct(name)
  const studio = { ...(await theOwnedApp(own.ctx, own.visitor.person, id)), own }
  return takeForm(
    own,
    async (_, form) => {
      if (studio.agent.suspended !== null) throw suspended(studio.agent)
      const note = await work(studio, form)
      return note === undefined
        ? goTo(at(studio, tab))
        : shown(own, await view(own, id, tab, { note }))
    },
    (_, said, sent) => view(own, id, tab, { said, sent }),
    { bytesMax: name === 'upload' ? assetBytesMax + aroundMax : formBytesMax },
  )
}
