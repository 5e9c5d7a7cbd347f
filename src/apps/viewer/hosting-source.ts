import { listOpen } from '../../jobs/jobs.ts'
import type { AppContext } from '../../kernel/context.ts'
import { isWriteUnavailable } from '../../kernel/db/error.ts'
import { ApiError } from '../../kernel/errors.ts'
import { Events } from '../../kernel/http/outcome.ts'
import { getRequestContext, senderOf } from '../../kernel/http/request-context.ts'
import { toResponse } from '../../kernel/http/response.ts'
import { jobWatchMs, noteHeartbeatMs } from '../../kernel/limits.ts'
import { second, stopwatch } from '../../kernel/time.ts'
import { t } from '../../kernel/words/message.ts'
import { readApiKey } from '../../money/keys/keys.ts'
import { agentAccount } from '../../money/ledger/accounts.ts'
import * as agents from '../../people/agents/agents.ts'
import { inLanguageOf } from '../../people/language.ts'
import { mayBeSignedIn } from '../../people/sessions.ts'
import { findUpload } from '../app-data/uploads.ts'
import * as apps from '../apps.ts'
import * as assets from '../assets/assets.ts'
import {
  findPass,
  freshSender,
  isExpired,
  isLocked,
  isOpenToAll,
  isValidPass,
  unknownApp,
} from '../audience/access.ts'
import { presentCover } from '../covers/present-cover.ts'
import { recordUse } from '../explore/uses.ts'
import { isPackKind } from '../kinds.ts'
import { findUsedType } from '../libraries/store.ts'
import { recordOpen } from '../opens.ts'
import * as pages from '../page-content.ts'
import { iconUrl, stateOf } from '../present.ts'
import type { AppSource, HostedApp, HostedHtml } from './app-source.ts'

/** Interval at which an open page is compared with its app. */
const checkMs = second

/** Finds the app as a browser may open it now; undefined when it no longer may. */
type FindOpen = () => Promise<HostedApp | undefined>

/**
 * Streams the version of an app to an open page: at once, after each change, and "closed" when the
 * browser may no longer open it. Ends after ten minutes, after which browsers connect again.
 */
const watchApp = (ctx: AppContext, find: FindOpen): Events =>
  new Events((ended) => versionsOf(ctx, find, ended))

async function* versionsOf(
  ctx: AppContext,
  find: FindOpen,
  ended: AbortSignal,
): AsyncGenerator<string> {
  const deadline = stopwatch() + jobWatchMs
  let sent = ''
  let heartbeat = stopwatch() + noteHeartbeatMs
  while (!ended.aborted) {
    const app = await find()
    const isOver = ctx.jobs.isClosed || stopwatch() > deadline
    const state = app ? `${app.version}${app.live ? ' live' : ''}` : 'closed'
    if (ended.aborted) return
    if (!isOver && state === sent && stopwatch() < heartbeat) {
      await wait(checkMs, ended)
      continue
    }
    yield state === sent ? ': keep-alive\n\n' : `data: ${state}\n\n`
    if (isOver || !app) return
    sent = state
    heartbeat = stopwatch() + noteHeartbeatMs
  }
}

/** Waits, unless the stream ends first. */
const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })

const appDetails = (app: apps.App, { handle: maker }: agents.Agent) => {
  const { id, title, description, listed, updated } = app
  return { id, title, description, maker, listed: listed === 'on', updated }
}

/**
 * Records that a signed-in person opened an app. The app opens even if the account is suspended, or
 * the database or disk accepts no writes.
 */
async function recordPersonalUse(ctx: AppContext, id: string, request: Request): Promise<void> {
  if (!mayBeSignedIn(request, getRequestContext(request))) return
  const { findSessionUser } = await import('../../people/session-user.ts')
  try {
    const user = await findSessionUser(ctx, senderOf(request))
    if (user) await recordUse(ctx, user.person.id, id)
  } catch (error) {
    if (!(error instanceof ApiError) && !isWriteUnavailable(error)) throw error
  }
}

/** Finds a version for somebody who has opened its preview, until its app ends. */
async function findPreviewed(ctx: AppContext, id: string, version: number) {
  const app = await apps.findApp(ctx, id)
  const maker = app && (await agents.findAgent(ctx, app.maker))
  const isOpen = maker?.closed === null && app?.closed === null && app.takenDown === null
  if (!isOpen) return undefined
  return { ...appDetails(app, maker), icon: null, state: 'live' as const, version }
}

async function readHtml(ctx: AppContext, id: string, version: number): Promise<HostedHtml> {
  const row = await apps.getVersion(ctx, id, version)
  const { sha256, libraries, uses, page } = row
  const facts = { hasLibraries: libraries !== null, uses, ...(page && { name: page }) }
  return { sha256, ...(await pages.readPage(ctx, row)), ...facts }
}

/** Finds the app of a public link, with what its page shows. */
async function findHosted(ctx: AppContext, id: string): Promise<HostedApp | undefined> {
  const app = await apps.findApp(ctx, id)
  const maker = app && (await agents.findAgent(ctx, app.maker))
  if (!app || !maker || isPackKind(app.kind)) return undefined
  const isWithdrawn = app.quarantinedAt !== null || maker.suspended !== null
  const known = stateOf(app)
  return {
    ...appDetails(app, maker),
    icon: iconUrl(ctx, app),
    // Its address is outside the paths of the cookie that may open the app.
    cover: !isOpenToAll(ctx, app)
      ? null
      : (presentCover(ctx, app)?.large.slice(ctx.urls.app.length) ?? null),
    color: presentCover(ctx, app)?.color ?? null,
    remixable: app.listed === 'on' && app.remix !== 'off',
    remixPrice: app.remix === 'price' ? (app.priceRemix ?? 0) : 0,
    embeds: app.embeds,
    state: isWithdrawn && (known === 'live' || known === 'building') ? 'quarantined' : known,
    version: apps.visibleVersion(app),
    live: app.live,
    restricted: !isOpenToAll(ctx, app),
    ...(isLocked(ctx, app) && { lockedAt: `/open/${id}` }),
    access: 2 * app.access + Number(isExpired(ctx, app)),
  }
}

/** Returns the AppSource over the hosting module. */
export function hostingSource(ctx: AppContext): AppSource {
  return {
    commits: () => ctx.db.commits() ?? ctx.state.appChanges.count,
    find: (id) => findHosted(ctx, id),
    async findPass(id, sender) {
      const app = await apps.findApp(ctx, id)
      const pass = await findPass(ctx, app ?? unknownApp(id), freshSender(sender))
      return app && pass
    },
    async isValidPass(id, pass) {
      const app = await apps.findApp(ctx, id)
      return app !== undefined && isValidPass(ctx, app, pass)
    },
    watch: (request, find) => toResponse(ctx, request, watchApp(ctx, find)),
    async buildProgress({ id }) {
      const app = await apps.findApp(ctx, id)
      const owner = app && agentAccount(app.maker)
      const [build] = owner === undefined ? [] : await listOpen(ctx, owner, id)
      return build && build.progress / 100
    },
    async preview(id, version, request) {
      const { findPreview: mayPreview } = await import('../owners/previews.ts')
      const found = await mayPreview(ctx, request, id, version)
      if (!found) return undefined
      const { app, maker } = found
      const title = t('{title} (version {version})', { title: app.title, version })
      return { ...appDetails(app, maker), title, icon: null, state: 'live', version }
    },
    previewed: (id, version) => findPreviewed(ctx, id, version),
    html: ({ id, version }) => readHtml(ctx, id, version),
    libraries: async ({ id, version }) => (await apps.getVersion(ctx, id, version)).libraries,
    async libraryFile(sha256) {
      const type = await findUsedType(ctx.db.read, sha256)
      const content = type !== undefined && (await ctx.storage.read(sha256))
      return content ? { type, content } : undefined
    },
    recordOpen: ({ id }, request, context = getRequestContext(request)) =>
      recordOpen(ctx, id, context.client.group),
    inLanguageOf: (request, render) => inLanguageOf(ctx, request, render),
    async recordUse({ id }, request) {
      const text = readApiKey(request.headers)
      if (text === undefined) return recordPersonalUse(ctx, id, request)
      const key = await ctx.keys.find(text)
      if (key?.kind === 'agent' && key.revoked === null) await recordUse(ctx, key.owner, id)
    },
    files: ({ id, version }) => assets.listAssets(ctx, id, version),
    upload: (id, name) => findUpload(ctx, id, name),
    file: (file) => assets.readContent(ctx, file),
  }
}
