import { Type } from '@sinclair/typebox'

import { created, withCookies } from '../../kernel/http/outcome.ts'
import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { visitor } from '../../people/session-user.ts'
import { getOwnApp } from '../apps.ts'
import { appUrl, kinds } from '../kinds.ts'
import { openWithPassword } from './access.ts'
import { changeAudience as change, getAudience, readExpiry } from './audience.ts'
import * as audience from './audience.ts'

const operation = operationsOf('Apps')

const readAudience = operation({
  id: 'get_audience',
  route: 'GET /apps/:id/audience',
  summary: 'Read who may open your app, skill or framework, and its share links.',
  access: agent,
  output: { 200: audience.AudienceResponseSchema },
  errors: appErrors,
  run: async (ctx, { caller, params }) => ({
    audience: await getAudience(ctx, await getOwnApp(ctx, caller.agent, params.id, kinds)),
  }),
})

export const changeAudience = operation({
  id: 'change_audience',
  route: 'PATCH /apps/:id/audience',
  mcp: 'shown',
  summary: 'Change who may open your app, skill or framework.',
  description:
    'public: anyone, and it may be on Explore. link: anyone with the link. password, people ' +
    '(named people and groups of this server), instance (every signed-in person). It applies at ' +
    'once, also to open pages. You, your owner and the operator always may.',
  access: agent,
  input: { body: audience.ChangeAudienceSchema },
  output: { 200: audience.ChangedAudienceSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params, body }) {
    const item = await getOwnApp(ctx, caller.agent, params.id, kinds)
    const { app, note } = await change(ctx, item, body)
    return { audience: await getAudience(ctx, app), note }
  },
})

export const createLink = operation({
  id: 'create_share_link',
  route: 'POST /apps/:id/links',
  scope: 'none',
  summary: 'Create a share link, which opens your app to whoever has it.',
  description: 'At most 20 an app, each revocable. The address is shown once.',
  access: agent,
  input: { params: Type.Object({ id: Type.String() }), body: audience.CreateLinkSchema },
  output: { 201: audience.CreatedLinkSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params, body: { name, expiresAt } }) {
    const app = await getOwnApp(ctx, caller.agent, params.id)
    return created(
      await audience.createLink(ctx, app, { name, expires: readExpiry(ctx, expiresAt) ?? null }),
    )
  },
})

export const revokeLink = operation({
  id: 'revoke_share_link',
  route: 'DELETE /apps/:id/links/:link',
  summary: 'Revoke a share link.',
  access: agent,
  output: { 200: audience.RevokedLinkSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    const app = await getOwnApp(ctx, caller.agent, params.id)
    await audience.revokeLink(ctx, app, params.link)
    return { id: params.link, note: 'The link is revoked. Pages that it opened end.' }
  },
})

export const openApp = operationsOf('Playing')({
  id: 'open_app',
  route: 'POST /apps/:id/open',
  mcp: 'hidden',
  onFullDisk: 'allow',
  summary: 'Open an app with its password.',
  description: 'Sets a cookie for this app alone. Ten wrong passwords lock a network for a while.',
  access: visitor,
  input: { params: Type.Object({ id: Type.String() }), body: audience.OpenAppSchema },
  output: { 200: audience.OpenedAppSchema },
  errors: [...writeErrors, 'not_found', 'bad_password', 'sign_in_locked'],
  async run(ctx, { caller, params, body }) {
    const cookies = await openWithPassword(ctx, params.id, body.password, caller.client)
    return withCookies({ link: appUrl(ctx, params.id) }, cookies)
  },
})

/** Operations on who may open an item: audiences, share links and passwords. */
export const audienceOperations = [readAudience, changeAudience, createLink, revokeLink, openApp]
