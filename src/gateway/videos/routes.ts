import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { BehindEnd, Media } from '../../core/shape.ts'
import type { House } from '../../house.ts'
import { callOf } from '../call.ts'
import { Marks } from '../images/shapes.ts'
import { theSpender, withKey, withoutKey } from '../key.ts'
import { openOperation, operation } from '../operation.ts'
import { paidRefusals } from '../paid/pay.ts'
import * as shapes from './shapes.ts'
import { submit } from './submit.ts'
import { contentOf, present, theOwn } from './videos.ts'

const Film = Media('video/*')

/** Films (document 2, POST /v1/videos and GET /v1/videos/{id}), and where they are seen. */
export const videoRoutes = (house: House) =>
  new Elysia().use(newVideos(house)).use(oneVideo(house)).use(videoContent(house))

const newVideos = (house: House) =>
  new Elysia()
    .derive(async ({ request }) => ({ spender: await theSpender(house, request) }))
    .post('/videos', ({ spender, request }) => submit(house, spender, request, callOf(request)), {
      // The body is read in the handler, when the key is known.
      parse: 'none',
      ...operation(
        {
          id: 'create_video',
          tag: 'Media',
          summary: 'Begin a film of a prompt.',
          more:
            'Poll it every 5 to 10 seconds until it is completed or failed. It is charged only ' +
            'when it completes, at most estimated_cost.',
          takes: {
            'application/json': { schema: shapes.videoWanted },
            'multipart/form-data': { schema: shapes.videoForm },
          },
        },
        { 200: Type.Unsafe<Response>(shapes.Video) },
        paidRefusals,
      ),
    })

const oneVideo = (house: House) =>
  new Elysia()
    .use(withKey(house))
    .get(
      '/videos/:id',
      async ({ spender, params }) => present(house, await theOwn(house, spender, params.id)),
      operation(
        { id: 'get_video', tag: 'Media', summary: 'How a film stands, and where it is.' },
        { 200: shapes.Video },
        ['not_found'],
      ),
    )

const videoContent = (house: House) =>
  new Elysia()
    .use(withoutKey())
    .get(
      '/videos/:id/content',
      ({ params, query, request }) =>
        contentOf(house, params.id, query, () => theSpender(house, request)),
      {
        query: Marks,
        ...openOperation(
          {
            id: 'get_video_content',
            tag: 'Media',
            summary: 'A film, by its signed address or with its key.',
          },
          { 200: Film, 206: Film, 302: Type.Void(), 416: BehindEnd },
          ['no_key', 'bad_key', 'not_found'],
        ),
      },
    )
