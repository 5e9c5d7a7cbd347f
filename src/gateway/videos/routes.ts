import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { mediaSchema, RangeNotSatisfiableSchema } from '../../core/schema.ts'
import { getSpender, keyAuth } from '../authentication.ts'
import { callOf } from '../call.ts'
import { SignedUrlQuerySchema } from '../images/schemas.ts'
import { keyOperation, mediaOperation, publicOperation } from '../operation.ts'
import * as schemas from './schemas.ts'
import { submit } from './submit.ts'
import { getContent, getVideo, present } from './videos.ts'

const ContentSchema = mediaSchema('video/*')

/** Routes of videos (document 2, POST /v1/videos and GET /v1/videos/{id}). */
export const videoRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/videos',
      ({ spender, request }) => submit(ctx, spender, request, callOf(request)),
      mediaOperation(
        {
          id: 'create_video',
          input: 'handler',
          summary: 'Create a video from a prompt.',
          description:
            'Poll it every 5 to 10 seconds until it is completed or failed. A completed video is ' +
            'charged, at most estimated_cost.',
          requestBodies: {
            'application/json': { schema: schemas.videoRequestSchema },
            'multipart/form-data': { schema: schemas.videoFormSchema },
          },
        },
        { 200: schemas.VideoSchema },
      ),
    )
    .get(
      '/videos/:id',
      async ({ spender, params }) => present(ctx, await getVideo(ctx, spender, params.id)),
      keyOperation(
        { id: 'get_video', tag: 'Media', summary: 'Get the status and URL of a video.' },
        { 200: schemas.VideoSchema },
        ['not_found'],
      ),
    )
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
            summary: 'Get a video by its signed URL or with its API key.',
          },
          {
            200: ContentSchema,
            206: ContentSchema,
            416: RangeNotSatisfiableSchema,
          },
          ['no_key', 'bad_key', 'not_found'],
        ),
      },
    )
