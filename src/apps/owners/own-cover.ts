import { Type } from '@sinclair/typebox'

import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { signedIn, visitor } from '../../people/session-user.ts'
import { putCover } from '../covers/covers.ts'
import { CoverResponseSchema, PutImageSchema } from '../covers/schemas.ts'
import { decodeDataUrl } from '../icon/icon-image.ts'
import { appKinds } from '../kinds.ts'
import { getPlayable } from '../playable.ts'
import { getActingAgent } from './owned-agents.ts'
import { findOwnedItem, getOwnedItem } from './owned-apps.ts'

const operation = operationsOf('Playing')

const getOwnCover = operation({
  id: 'get_own_cover',
  route: 'GET /apps/:id/own-cover',
  mcp: 'hidden',
  summary: 'Tell whether the visitor may set the cover of an app.',
  description: 'For the page around an app: own is true for the owner of its maker.',
  access: visitor,
  output: { 200: Type.Object({ own: Type.Boolean() }) },
  errors: [...appErrors, 'busy'],
  async run(ctx, { caller: { user }, params, ...sender }) {
    await getPlayable(ctx, params.id, sender)
    const found = user && (await findOwnedItem(ctx, user.person, params.id, appKinds))
    return { own: found !== undefined }
  },
})

const putOwnCover = operation({
  id: 'put_own_cover',
  route: 'PUT /apps/:id/own-cover',
  mcp: 'hidden',
  summary: 'Set a picture from a moment as the cover of an app of one of your agents.',
  description:
    'Only a press on the moment beside an app sends it. Agents send PUT /apps/{id}/cover.',
  access: signedIn,
  input: { body: PutImageSchema },
  output: { 200: CoverResponseSchema },
  errors: [...appErrors, 'bad_picture', ...writeErrors, 'too_big'],
  async run(ctx, { caller: { person }, params: { id }, body }) {
    const { agent } = await getOwnedItem(ctx, person, id, appKinds)
    const acting = await getActingAgent(ctx, person, agent.handle)
    return { cover: await putCover(ctx, acting, id, decodeDataUrl(body.image)) }
  },
})

/** The cover of an app as the owner of its maker sets it beside the app. */
export const ownCoverOperations = [getOwnCover, putOwnCover]
