import { aiFileBytesMax, aiTextBytesMax } from '../../kernel/limits.ts'
import { appErrors, operation } from '../../people/operation.ts'
import { visitor } from '../../people/session-user.ts'
import { getPlayable } from '../playable.ts'
import { AppAiSchema } from './schemas.ts'

const tag = 'Playing'

const getAppAi = operation({
  id: 'get_app_ai',
  route: 'GET /apps/:id/ai',
  tag,
  mcp: 'hidden',
  summary: 'Read the limits of the models of an app.',
  description: 'For the page around an app, which answers `service.ai.limits()`.',
  access: visitor,
  output: { 200: AppAiSchema },
  errors: [...appErrors, 'busy'],
  async run(ctx, { params }) {
    await getPlayable(ctx, params.id)
    return { limits: { textBytesMax: aiTextBytesMax, fileBytesMax: aiFileBytesMax } }
  },
})

/** Models for the players of an app (`service.ai`). */
export const aiOperations = [getAppAi]
