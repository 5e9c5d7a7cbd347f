import type { AppContext } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { suspensionError } from '../../hosting/agents/suspension.ts'
import { getOwnedApp } from '../../hosting/people/owned-apps.ts'
import { checkPath } from '../../http/path.ts'
import { assetBytesMax, formBytesMax } from '../../limits.ts'
import { suspensionMessage } from '../agents/agent.ts'
import type { Layout, Page } from '../layout.ts'
import {
  handleForm,
  pageRoutes,
  privatePage,
  redirectTo,
  requireUser,
  userPage,
  type UserRequest,
} from '../session.ts'
import { findAction, getAction } from './actions.ts'
import { removedAppPage } from './appeal.ts'
import { assetsPage } from './assets.ts'
import { changesPage } from './changes.ts'
import { listingPage } from './listing.ts'
import { overviewPage } from './overview.ts'
import { safetyPage } from './safety.ts'
import { isTab, type Studio, studioPath, type Tab, tabPath } from './studio.ts'
import { versionsPage } from './versions.ts'

type RenderPage = (studio: Studio, query: URLSearchParams) => Page | Promise<Page>

const pages: Record<Tab, RenderPage> = {
  '': overviewPage,
  versions: versionsPage,
  assets: assetsPage,
  listing: listingPage,
  safety: safetyPage,
}

export const studioRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .onTransform(({ params }) => checkPath(params))
    .get('/studio/:id', ({ input, params: { id } }) =>
      userPage(input, (req) => getPage(req, id, '')),
    )
    .get('/studio/:id/:name', ({ input, params: { id, name } }) => {
      const action = findAction(name)
      return action
        ? redirectTo(tabPath(id, action.tab))
        : userPage(input, (req) => getPage(req, id, name))
    })
    .post('/studio/:id/:act', ({ input, params: { id, act } }) =>
      requireUser(input, (req) => runAction(req, id, act)),
    )

/** Notes after a new app was made on another page. */
const doneNotes = new Map([
  ['remix', 'This copy is yours. Change it, then list it on Explore under Listing.'],
  ['publish', 'Published. Share its link, or list it on Explore under Listing.'],
  ['build', 'The build started. Open the app to watch it; you pay only if it succeeds.'],
])

type Feedback = Pick<Studio, 'message' | 'submitted' | 'note'>

async function getPage(
  req: UserRequest,
  id: string,
  name: string,
  feedback: Feedback = {},
): Promise<Page> {
  const render = name === 'changes' ? changesPage : isTab(name) ? pages[name] : undefined
  if (!render) throw new ApiError('not_found', { what: 'page', see: 'Use the tabs of the app.' })
  const owned = await getOwnedApp(req.ctx, req.visitor.person, id)
  const note = doneNotes.get(req.query.get('done') ?? '')
  const studio = { ...owned, req, note, message: suspensionMessage(owned.agent), ...feedback }
  const { closed, takenDown } = owned.app
  if (closed !== null || takenDown !== null) return removedAppPage(studio)
  return render(studio, req.query)
}

async function runAction(req: UserRequest, id: string, name: string): Promise<Response> {
  const { tab, work } = getAction(name)
  const studio = { ...(await getOwnedApp(req.ctx, req.visitor.person, id)), req }
  return handleForm(
    req,
    async (_, form) => {
      if (studio.agent.suspended !== null) throw suspensionError(studio.agent)
      const note = await work(studio, form)
      return note === undefined
        ? redirectTo(studioPath(studio, tab))
        : privatePage(req, await getPage(req, id, tab, { note }))
    },
    (_, message, submitted) => getPage(req, id, tab, { message, submitted }),
    // An upload has the bytes of its file beside its fields.
    { bytesMax: name === 'upload' ? assetBytesMax + formBytesMax : formBytesMax },
  )
}
