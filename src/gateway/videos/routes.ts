import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { mediaSchema, RangeNotSatisfiableSchema } from '../../core/schema.ts'
import { getSpender, keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { SignedUrlQuerySchema } from '../images/schemas.ts'
import { keyOperation, publicOperation } from '../operation.ts'
import { mediaErrors } from '../paid/media.ts'
import * as schemas from './schemas.ts'
import { submit } from './submit.ts'
import { getContent, getVideo, present } from './videos.ts'

const Film = mediaSchema('video/*')

/** Films (document 2, POST /v1/videos and GET /v1/videos/{id}), and where they are seen. */
export const videoRoutes = (ctx: AppContext) =>
  new Elysia().use(newVideos(ctx)).use(oneVideo(ctx)).use(videoContent(ctx))

const newVideos = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post('/videos', ({ spender, request }) => submit(ctx, spender, request, callOf(request)), {
      ...keyOperation(
        {
          id: 'create_video',
          tag: 'Media',
          input: 'handler',
          summary: 'Begin a film of a prompt.',
          more:
            'Poll it every 5 to 10 seconds until it is completed or failed. It is charged only ' +
            'when it completes, at most estimated_cost.',
          takes: {
            'application/json': { schema: schemas.videoRequestSchema },
            'multipart/form-data': { schema: schemas.videoFormSchema },
          },
        },
        { 200: Type.Unsafe<Response>(schemas.VideoSchema) },
        mediaErrors,
      ),
    })

const oneVideo = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .get(
      '/videos/:id',
      async ({ spender, params }) => present(ctx, await getVideo(ctx, spender, params.id)),
      keyOperation(
        { id: 'get_video', tag: 'Media', summary: 'How a film stands, and where it is.' },
        { 200: schemas.VideoSchema },
        ['not_found'],
      ),
    )

const videoContent = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .get(
      '/videos/:id/content',
      ({ params, query, request }) =>
        getContent(ctx, params.id, query, () => getSpender(ctx, request)),
      {
        query: SignedUrlQuerySchema,
        ...publicOperation(
          {
            id: 'get_video_content',
            tag: 'Media',
            summary: 'A film, by its signed address or with its key.',
          },
          { 200: Film, 206: Film, 302: Type.Void(), 416: RangeNotSatisfiableSchema },
          ['no_key', 'bad_key', 'not_found'],
        ),
      },
    )
