import { mediaSchema, RangeNotSatisfiableSchema } from '../../kernel/schema.ts'
import { anyone, getSpender, key } from '../authentication.ts'
import { SignedUrlQuerySchema } from '../images/operations.ts'
import { mediaErrors, operationsOf, paidUpload } from '../operation.ts'
import { readVideoRequest, submit } from './submit.ts'
import * as schemas from './videos.ts'
import * as videos from './videos.ts'

const operation = operationsOf('Media')

const ContentSchema = mediaSchema('video/*')

const createVideo = paidUpload({
  id: 'create_video',
  route: 'POST /videos',
  tag: 'Media',
  summary: 'Create a video from a prompt.',
  description:
    'Poll it every 5 to 10 seconds until it is completed or failed. Before, it is pending; for ' +
    "clients of OpenAI's form it is queued, then in_progress. A completed video is charged, at " +
    'most estimated_cost.',
  input: {
    'application/json': schemas.videoRequestSchema,
    'multipart/form-data': schemas.videoFormSchema,
  },
  output: [schemas.VideoSchema],
  errors: mediaErrors,
  read: readVideoRequest,
  run: submit,
})

const getVideo = operation({
  id: 'get_video',
  route: 'GET /videos/:id',
  summary: 'Get the status and URL of a video.',
  access: key,
  output: { 200: schemas.VideoSchema },
  errors: ['not_found'],
  run: async (ctx, { caller: spender, params, headers }) =>
    videos.present(ctx, await videos.getVideo(ctx, spender, params.id), headers),
})

const listVideos = operation({
  id: 'list_videos',
  route: 'GET /videos',
  summary: 'List the videos of your account from the last 30 days.',
  access: key,
  input: { query: schemas.VideoListQuerySchema },
  output: { 200: schemas.VideoListSchema },
  errors: ['bad_request'],
  run: (ctx, { caller: spender, query, headers }) => videos.list(ctx, spender, query, headers),
})

const deleteVideo = operation({
  id: 'delete_video',
  route: 'DELETE /videos/:id',
  summary: 'Delete a completed or failed video with its file.',
  access: key,
  output: { 200: schemas.DeletedVideoSchema },
  errors: ['bad_request', 'too_large', 'not_found', 'try_again'],
  async run(ctx, { caller: spender, params }) {
    await videos.remove(ctx, spender, params.id)
    return { id: params.id, object: 'video.deleted' as const, deleted: true as const }
  },
})

const getVideoContent = operation({
  id: 'get_video_content',
  route: 'GET /videos/:id/content',
  summary: 'Get a video by its signed URL or with its API key.',
  access: anyone,
  input: { query: SignedUrlQuerySchema },
  output: {
    200: ContentSchema,
    206: ContentSchema,
    416: RangeNotSatisfiableSchema,
  },
  errors: ['no_key', 'bad_key', 'not_found'],
  run: (ctx, { params, query, ...call }) =>
    videos.getContent(ctx, params.id, query, () => getSpender(ctx, call)),
})

/** Routes of videos (document 2, POST /v1/videos and GET /v1/videos/{id}), and OpenAI's. */
export const videoOperations = [createVideo, listVideos, getVideo, getVideoContent, deleteVideo]
