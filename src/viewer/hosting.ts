import type { AppContext } from '../context.ts'
import * as agents from '../hosting/agents/agents.ts'
import * as apps from '../hosting/apps/apps.ts'
import { noteOpen } from '../hosting/apps/opens.ts'
import * as pages from '../hosting/apps/pages.ts'
import { iconOf, stateOf } from '../hosting/apps/present.ts'
import * as assets from '../hosting/assets/assets.ts'
import { noteUse } from '../hosting/explore/uses.ts'
import { callerAddress } from '../http/request-context.ts'
import { openOf } from '../jobs/jobs.ts'
import { keyText } from '../keys/sent.ts'
import { agentAccount } from '../ledger/accounts.ts'
import type { Hosted, HostedApp } from './hosted.ts'

const factsOf = (app: apps.App, { handle: maker }: agents.Agent) => {
  const { id, title, description, listed, updated } = app
  return { id, title, description, maker, listed: listed === 'on', updated }
}

/** The viewer's view of hosting's verbs. */
export function hostedBy(ctx: AppContext): Hosted {
  const filesOf = (app: HostedApp) => assets.rowsOf(ctx, app.id, app.version)
  return {
    commits: () => ctx.db.commits(),
    async find(id) {
      const app = await apps.find(ctx, id)
      const maker = app && (await agents.find(ctx, app.maker))
      if (!app || !maker) return undefined
      const isHeld = app.heldAt !== null || maker.suspended !== null
      const known = stateOf(app)
      return {
        ...factsOf(app, maker),
        icon: iconOf(ctx, app),
        state: isHeld && (known === 'live' || known === 'building') ? 'held' : known,
        version: apps.shownVersion(app),
      }
    },
    async built({ id }) {
      const app = await apps.find(ctx, id)
      const owner = app && agentAccount(app.maker)
      const [build] = owner === undefined ? [] : await openOf(ctx, owner, id)
      return build && build.progress / 100
    },
    async preview(id, version, request) {
      const { mayPreview } = await import('../hosting/people/previews.ts')
      const found = await mayPreview(ctx, request, id, version)
      if (!found) return undefined
      const { app, maker } = found
      const title = `${app.title} (version ${version})`
      return { ...factsOf(app, maker), title, icon: null, state: 'live', version }
    },
    async html({ id, version }) {
      const row = await apps.theVersion(ctx, id, version)
      return { sha256: row.sha256, ...(await pages.read(ctx, row)) }
    },
    opened: ({ id }, request) => noteOpen(ctx, id, callerAddress(request)),
    async used({ id }, request) {
      const text = keyText(request.headers)
      const key = text === undefined ? undefined : await ctx.keys.find(text)
      if (key?.kind === 'agent' && key.revoked === null) await noteUse(ctx, key.owner, id)
    },
    files: filesOf,
    async file(app, name) {
      const file = (await filesOf(app)).find((row) => row.name === name)
      const content = file && (await ctx.storage.read(file.sha256))
      return content && { file, content }
    },
  }
}
