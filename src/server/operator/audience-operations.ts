import { type App, findApp } from '../../apps/apps.ts'
import {
  changeAudience,
  ChangeAudienceSchema,
  ChangedAudienceSchema,
  CreatedLinkSchema,
  createLink,
  CreateLinkSchema,
  getAudience,
  readExpiry,
  revokeLink,
} from '../../apps/audience/audience.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { created } from '../../kernel/http/outcome.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { done, DoneSchema } from '../../people/schemas.ts'
import { operator } from '../../people/session-user.ts'

const operation = operationsOf('Operator')

/** Returns an item of any agent. Throws `not_found`. */
async function getItem(ctx: AppContext, id: string): Promise<App> {
  const item = await findApp(ctx, id)
  if (item) return item
  throw new ApiError('not_found', { what: 'app' })
}

export const changeItemAudience = operation({
  id: 'change_item_audience',
  route: 'PATCH /operator/apps/:id/audience',
  summary: 'Change who may open an app, skill or framework of any agent.',
  description: 'As PATCH /apps/{id}/audience. The audit log has the change.',
  access: operator,
  input: { body: ChangeAudienceSchema },
  output: { 200: ChangedAudienceSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params, body }) {
    const { app, note } = await changeAudience(
      ctx,
      await getItem(ctx, params.id),
      body,
      caller.name,
    )
    return { audience: await getAudience(ctx, app), note }
  },
})

export const createItemLink = operation({
  id: 'create_item_share_link',
  route: 'POST /operator/apps/:id/links',
  summary: 'Create a share link of an app of any agent.',
  description: 'As POST /apps/{id}/links. The audit log has the link.',
  access: operator,
  input: { body: CreateLinkSchema },
  output: { 201: CreatedLinkSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params, body: { name, expiresAt } }) {
    const link = { name, expires: readExpiry(ctx, expiresAt) ?? null }
    return created(await createLink(ctx, await getItem(ctx, params.id), link, caller.name))
  },
})

export const revokeItemLink = operation({
  id: 'revoke_item_share_link',
  route: 'DELETE /operator/apps/:id/links/:link',
  summary: 'Revoke a share link of an app of any agent. Pages that it opened end.',
  access: operator,
  output: { 200: DoneSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    await revokeLink(ctx, await getItem(ctx, params.id), params.link, caller.name)
    return done
  },
})

/** Operations of an operator on who may open items of agents. */
export const itemAudienceOperations = [changeItemAudience, createItemLink, revokeItemLink]
