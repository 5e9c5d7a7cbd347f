import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { checkPath } from '../../core/path.ts'
import { ApiError } from '../../errors.ts'
import { suspensionError } from '../../hosting/agents/suspension.ts'
import { getOwnedApp } from '../../hosting/people/owned-apps.ts'
import { assetBytesMax, formBytesMax } from '../../limits.ts'
import { suspensionMessage } from '../agents/agents.ts'
import { queryOf } from '../components.ts'
import type { Layout, Page } from '../layout.ts'
import {
  handleForm,
  privatePage,
  redirectTo,
  requireSignIn,
  signedInPage,
  type SignedInRequest,
} from '../session.ts'
import { getAction } from './actions.ts'
import { assetsPage } from './assets.ts'
import { changesPage } from './changes.ts'
import { listingPage } from './listing.ts'
import { overviewPage } from './overview.ts'
import { removedAppPage } from './removed-app.ts'
import { safetyPage } from './safety.ts'
import { isTab, type Studio, studioPath, type Tab } from './studio.ts'
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
export const studioRoutes = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .onTransform(({ params }) => checkPath(params))
    .get('/studio/:id', ({ request, params: { id } }) =>
      signedInPage({ ctx, layout, request }, (signedIn) => getPage(signedIn, id, '')),
    )
    .get('/studio/:id/:name', ({ request, params: { id, name } }) =>
      signedInPage({ ctx, layout, request }, (signedIn) => getPage(signedIn, id, name)),
    )
    .post(
      '/studio/:id/:act',
      ({ request, params: { id, act } }) =>
        requireSignIn({ ctx, layout, request }, (signedIn) => runAction(signedIn, id, act)),
      { parse: 'none' },
    )

type StudioFeedback = Pick<Studio, 'message' | 'submitted' | 'note'>

async function getPage(
  signedIn: SignedInRequest,
  id: string,
  name: string,
  feedback: StudioFeedback = {},
): Promise<Page> {
  const draw = name === 'changes' ? changesPage : isTab(name) ? views[name] : undefined
  if (!draw)
    throw new ApiError('not_found', { what: 'page', see: 'The studio links to its pages.' })
  const owned = await getOwnedApp(signedIn.ctx, signedIn.visitor.person, id)
  const studio = { ...owned, signedIn, message: suspensionMessage(owned.agent), ...feedback }
  const { closed, takenDown } = owned.app
  if (closed !== null || takenDown !== null) return removedAppPage(studio)
  return draw(studio, queryOf(signedIn.request))
}

async function runAction(signedIn: SignedInRequest, id: string, name: string): Promise<Response> {
  const { tab, work } = getAction(name)
  const studio = { ...(await getOwnedApp(signedIn.ctx, signedIn.visitor.person, id)), signedIn }
  return handleForm(
    signedIn,
    async (_, form) => {
      if (studio.agent.suspended !== null) throw suspensionError(studio.agent)
      const note = await work(studio, form)
      return note === undefined
        ? redirectTo(studioPath(studio, tab))
        : privatePage(signedIn, await getPage(signedIn, id, tab, { note }))
    },
    (_, message, submitted) => getPage(signedIn, id, tab, { message, submitted }),
    { bytesMax: name === 'upload' ? assetBytesMax + aroundMax : formBytesMax },
  )
}
