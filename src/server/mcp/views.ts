import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'

import { getPlayable } from '../../apps/audience/access.ts'
import { recordOpen } from '../../apps/opens.ts'
import {
  type AppContent,
  filesAddress,
  readAppContent,
  renderView,
  viewPolicy,
} from '../../apps/viewer/chat-view.ts'
import type { Pages } from '../../apps/viewer/pages.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, isApiError } from '../../kernel/errors.ts'
import { FairQueue, PoolBusyError } from '../../kernel/fair-queue.ts'
import type { RequestContext } from '../../kernel/http/request-context.ts'
import { sign } from '../../kernel/ids.ts'
import { hour } from '../../kernel/time.ts'
import { readApiKey } from '../../money/keys/keys.ts'
import { findSentKey } from '../../people/authentication.ts'
import { errorEnvelope } from '../../people/error-response.ts'
import { viewType } from './view-session.ts'

const base = 'ui://berth/'
/** The view of the tools, which shows the app of a result. No app has this id. */
const anyApp = `${base}app`

/** Metadata of tools whose result has an app. */
export const toolView = { ui: { resourceUri: anyApp } }
/** Metadata of tools that only views call. */
export const viewTool = { ui: { visibility: ['app'] } }

export const viewTemplate = {
  name: 'app',
  title: 'App',
  uriTemplate: `${base}{id}`,
  description: 'An app with its files and libraries, for a frame of the host.',
  mimeType: viewType,
}

/** The party that reads an app: the headers with its key, and the context of its request. */
export interface Reader {
  headers: Headers
  context: RequestContext
}

/** An app as its view gets it, with the pass by which the view calls for it. */
type OpenedApp = AppContent & { pass: string }

/**
 * Returns the passes of this hour and of the one before. A view gets the first with the page of its
 * app, and calls for the app need one. They are for the owner of the key that opened it alone.
 */
export async function viewPasses(
  ctx: AppContext,
  app: string,
  { headers, context }: Reader,
): Promise<[string, string]> {
  const key = readApiKey(headers)
  const found = key === undefined ? undefined : await findSentKey(ctx, context, key)
  const now = Math.floor(ctx.clock.now() / hour)
  const passAt = (time: number) => sign(ctx.secret, `view ${app} ${found?.owner ?? ''} ${time}`)
  return [passAt(now), passAt(now - 1)]
}

/** The progress of the first build of an app, 0 to 1. */
interface Building {
  id: string
  progress: number
}

/** A view is in memory several times: as files, as values and as the text of its message. */
const views = new FairQueue({
  slots: 2,
  waitingMax: 64,
  waitingBytesMax: Infinity,
  waitMs: 20_000,
  largeBytes: Infinity,
})

/**
 * Reads an app as the viewer shows it to the same party, and counts that it was opened. Throws
 * `not_found`, `taken_down`, `view_too_large`, and `try_again` for too many views at a time.
 */
export async function openApp(
  ctx: AppContext,
  pages: Pages,
  id: string,
  { headers, context }: Reader,
): Promise<OpenedApp | Building> {
  const isBuilt = await getPlayable(ctx, id, { headers, context }).then(
    () => true,
    (error: unknown) => {
      if (isApiError(error, 'busy')) return false
      throw error
    },
  )
  const page = await pages.find(id)
  if (page && !isBuilt) return { id, progress: (await pages.source.buildProgress?.(page.app)) ?? 0 }
  if (page?.app.state !== 'live') throw new ApiError('not_found', { what: 'app' })
  recordOpen(ctx, id, context.client.group)
  const read = async () => ({
    ...(await readAppContent(pages, page, { headers, context })),
    pass: (await viewPasses(ctx, id, { headers, context }))[0],
  })
  return views.run(0, read).catch((error: unknown) => {
    if (!(error instanceof PoolBusyError)) throw error
    throw new ApiError('try_again', { why: `The app was not opened: ${error.message}.` })
  })
}

/** Reads the resource of a view. Throws ResourceNotFoundError, and InvalidParams if too large. */
export async function readView(ctx: AppContext, pages: Pages, uri: string, reader: Reader) {
  const content = (text: string, address: string | undefined) => ({
    uri,
    mimeType: viewType,
    text,
    // An app gets no camera, microphone or location, as in the viewer.
    _meta: { ui: { csp: viewPolicy(address), permissions: {}, prefersBorder: true } },
  })
  if (uri === anyApp) return content(renderView(pages), filesAddress(pages))
  const id = /^ui:\/\/berth\/(\w+)$/.exec(uri)?.[1] ?? ''
  const app = await openApp(ctx, pages, id, reader).catch((error: unknown) => {
    if (isApiError(error, 'not_found') || isApiError(error, 'taken_down')) return undefined
    if (!isApiError(error, 'view_too_large')) throw error
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, errorEnvelope(error).body.error)
  })
  if (!app || 'progress' in app) throw new ResourceNotFoundError(uri)
  return content(renderView(pages, app), app.files?.address)
}
