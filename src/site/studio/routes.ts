import { listByMaker } from '../../apps/apps.ts'
import { findBuildOfApp } from '../../apps/builds/builds.ts'
import { watch } from '../../apps/jobs/operations.ts'
import { kinds } from '../../apps/kinds.ts'
import { getOwnedItem } from '../../apps/owners/owned-agents.ts'
import { zipOf } from '../../apps/versions/export.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { ApiError, isApiError } from '../../kernel/errors.ts'
import { html } from '../../kernel/html.ts'
import { toResponse } from '../../kernel/http/response.ts'
import { formBytesMax, formFieldsMax } from '../../kernel/limits.ts'
import { lookUp } from '../../kernel/schema.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { listAllOwnedAgents, suspensionError } from '../../people/agents/agents.ts'
import { cookieName, readCookie, secureAttribute } from '../../people/session-user.ts'
import { suspensionMessage } from '../agents/agent.ts'
import { ownAppFacts, ownAppTile } from '../agents/own-apps.ts'
import type { Layout, Page } from '../layout.ts'
import { createdCursor, cursorPager, emptyState } from '../lists.ts'
import {
  handleForm,
  isStillSignedIn,
  type PageRequest,
  pageRoutes,
  privatePage,
  redirectTo,
  requireUser,
  userPage,
  type UserRequest,
} from '../session.ts'
import { tilesPerPage } from '../tiles.ts'
import { accessActions, accessPage } from './access.ts'
import { analyticsPage } from './analytics.ts'
import { assetActions, assetsPage } from './assets.ts'
import { buildActions, buildPage } from './build.ts'
import { changesPage } from './changes.ts'
import { codeActions, codePage } from './code.ts'
import { errorsPage } from './errors.ts'
import { packActions, packFilesPage } from './files.ts'
import { listingActions, listingPage } from './listing.ts'
import { removedAppPage, safetyActions, safetyPage } from './safety.ts'
import {
  isTab,
  type Studio,
  type StudioAction,
  studioPath,
  type Tab,
  tabPath,
  tabsOf,
} from './studio.ts'
import { versionActions, versionsPage } from './versions.ts'

/** Renders everything that the agents of a person made, newest first. */
async function studioListPage({ ctx, visitor, query }: UserRequest): Promise<Page> {
  const agents = await listAllOwnedAgents(ctx.db.read, visitor.person.id)
  const handles = new Map(agents.map(({ id, handle }) => [id, `@${handle}`]))
  const after = createdCursor(query)
  const found = await listByMaker(ctx, [...handles.keys()], tilesPerPage + 1, after, kinds)
  const { page, next } = takePage(found, tilesPerPage, (app) => makeCursor(app.created, app.id))
  const tiles = page.map((app) => {
    const maker = agents.length > 1 ? [handles.get(app.maker) ?? ''] : []
    const facts = [...maker, ...ownAppFacts(ctx, app)]
    return ownAppTile(ctx, app, { href: tabPath(app.id, ''), facts })
  })
  const main = html`<div class="head title">
      <h1>Studio</h1>
      ${tiles.length > 0 && html`<a class="button" href="/new">New app</a>`}
    </div>
    ${
      tiles.length > 0
        ? html`<h2 class="visually-hidden">Your apps</h2>
            <ul class="tiles">
              ${tiles}
            </ul>`
        : nothingYet
    }
    ${cursorPager(query, '/studio', next)}`
  return { title: t('Studio'), section: '/studio', hasNew: true, main }
}

const nothingYet = emptyState(
  msg('You have not made anything yet'),
  msg('Describe an app or bring an HTML file. You change, list and measure it here.'),
  html`<a class="button" href="/new">Make your first app</a>`,
)

type RenderPage = (studio: Studio, query: URLSearchParams) => Page | Promise<Page>

const pages: Record<Tab, RenderPage> = {
  '': analyticsPage,
  files: packFilesPage,
  build: buildPage,
  code: codePage,
  versions: versionsPage,
  assets: assetsPage,
  listing: listingPage,
  safety: safetyPage,
  access: accessPage,
  errors: errorsPage,
}

/** The forms of all pages, by the last segment of their path, /studio/{id}/{name}. */
const actions: Record<string, StudioAction> = {
  ...packActions,
  ...buildActions,
  ...codeActions,
  ...versionActions,
  ...assetActions,
  ...listingActions,
  ...accessActions,
  ...safetyActions,
}

const findAction = (name: string): StudioAction | undefined => lookUp(actions, name)

export const studioRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/studio', ({ input }) => userPage(input, studioListPage))
    .get('/studio/:id', ({ input, params: { id } }) =>
      userPage(input, (req) => getPage(req, id, '')),
    )
    .get('/studio/:id/build', ({ input, params: { id } }) =>
      requireUser(input, (req) => showBuild(req, id)),
    )
    .get('/studio/:id/build/events', ({ input, params: { id } }) =>
      requireUser(input, (req) => watchBuild(req, id)),
    )
    .get('/studio/:id/export', ({ input, params: { id } }) =>
      requireUser(input, async ({ visitor }) => {
        const { app } = await getOwnedItem(ctx, visitor.person, id, kinds)
        const name = `attachment; filename="${app.id}.zip"`
        const headers = { 'content-type': 'application/zip', 'content-disposition': name }
        return new Response(zipOf(ctx, app), { headers })
      }),
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

/** Shows the build tab; a first build that failed left no app and opens its prompt again. */
async function showBuild(req: UserRequest, id: string): Promise<Response> {
  try {
    return privatePage(req, await getPage(req, id, 'build'))
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error
    const build = await findOwnBuild(req, id)
    if (!build) throw error
    return redirectTo(`/new?build=${build.job.id}`)
  }
}

const findOwnBuild = async ({ ctx, visitor }: UserRequest, id: string) =>
  findBuildOfApp(ctx, await listAllOwnedAgents(ctx.db.read, visitor.person.id), id)

/** Streams the events of an app's newest build. It may have failed and left no app. */
async function watchBuild(req: UserRequest, id: string): Promise<Response> {
  const { ctx, request } = req
  const build = await findOwnBuild(req, id)
  if (!build) throw new ApiError('job_not_found')
  const watched = { job: build.job, mayWatch: () => isStillSignedIn(req) }
  return toResponse(ctx, request, watch(ctx, watched, request.headers))
}

/** Notes after a new app was made on another page. */
const doneNotes = new Map([
  ['remix', msg('This copy is yours. Change it, then list it on Explore under Listing.')],
  ['publish', msg('Published. Share its link, or list it on Explore under Listing.')],
])

type Feedback = Pick<Studio, 'message' | 'submitted'>

async function getPage(
  req: UserRequest,
  id: string,
  name: string,
  feedback: Feedback = {},
): Promise<Page> {
  const render = name === 'changes' ? changesPage : isTab(name) ? pages[name] : undefined
  if (!render) throw noPage()
  const owned = await getOwnedItem(req.ctx, req.visitor.person, id, kinds)
  const tab = tabsOf(owned.app.kind).find((known) => known === name)
  if (tab === undefined && name !== 'changes') throw noPage()
  const left = readNote(req, owned.app.id)
  const done = doneNotes.get(req.query.get('done') ?? '')
  const note = left?.note ?? (done && t(done))
  const studio = { ...owned, req, note, message: suspensionMessage(owned.agent), ...feedback }
  const { closed, takenDown } = owned.app
  if (closed !== null || takenDown !== null) return removedAppPage(studio)
  const page = await render(studio, req.query)
  return left ? { ...page, headers: { ...page.headers, 'set-cookie': left.cookie } } : page
}

const noPage = () => new ApiError('not_found', { what: 'page', see: t('Use the tabs of the app.') })

async function runAction(req: UserRequest, id: string, name: string): Promise<Response> {
  const action = findAction(name)
  if (!action) throw noPage()
  const { tab, work, fileBytesMax = 0, moreFieldsMax = 0 } = action
  const studio = { ...(await getOwnedItem(req.ctx, req.visitor.person, id, kinds)), req }
  return handleForm(
    req,
    async (_, form) => {
      if (studio.agent.suspended !== null) throw suspensionError(studio.agent)
      const note = await work(studio, form)
      const cookies = note ? noteCookie(req, id, note) : []
      return redirectTo(studioPath(studio, tab), cookies)
    },
    (_, message, submitted) => getPage(req, id, tab, { message, submitted }),
    { bytesMax: formBytesMax + fileBytesMax, fieldsMax: formFieldsMax + moreFieldsMax },
  )
}

const resultCookie = 'berth_result'
/** Browsers drop cookies above 4,096 bytes. */
const resultBytesMax = 2_000
const resultSeconds = 60

/**
 * Returns the cookie that carries the note of an action over the redirect to the app's page, so
 * that a reload of the page does not send the form again.
 */
function noteCookie({ ctx }: PageRequest, id: string, note: string): string {
  const value = Buffer.from(note).subarray(0, resultBytesMax).toString('base64url')
  return cookieOf(ctx, `${id}.${value}`, resultSeconds)
}

/** Returns the note that an action left for an app, and the cookie that ends it. */
function readNote(
  { ctx, request }: PageRequest,
  id: string,
): { note: string; cookie: string } | undefined {
  const value = readCookie(ctx, request, resultCookie, `${id}\\.[\\w-]{1,3000}`)
  if (value === undefined) return undefined
  const note = Buffer.from(value.slice(id.length + 1), 'base64url').toString()
  return { note, cookie: cookieOf(ctx, '', 0) }
}

const cookieOf = (ctx: PageRequest['ctx'], value: string, age: number): string =>
  `${cookieName(ctx, resultCookie)}=${value}; Path=/; Max-Age=${age}; HttpOnly; SameSite=Strict${secureAttribute(ctx)}`
