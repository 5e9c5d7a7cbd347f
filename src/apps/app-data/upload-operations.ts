import { Type } from '@sinclair/typebox'

import { assetBytesMax } from '../../kernel/limits.ts'
import { strictObject } from '../../kernel/schema.ts'
import { appErrors, operationsOf, writeErrors } from '../../people/operation.ts'
import { visitor } from '../../people/session-user.ts'
import { countCall, getJoined } from './players.ts'
import { addUpload } from './uploads.ts'

/** A file in base64, and the JSON around it. */
const bodyBytesMax = Math.ceil(assetBytesMax / 3) * 4 + 65_536

const UploadSchema = strictObject(
  {
    data: Type.String({
      pattern: '^data:',
      description: 'The file as a data URL: a picture, a sound or JSON, of at most 4 MB.',
    }),
  },
  { examples: [{ data: 'data:application/json;base64,e30=' }] },
)
const UploadResponseSchema = Type.Object({
  url: Type.String({ description: 'A relative URL, which works in each frame of the app.' }),
  type: Type.String({ description: 'The media type, by the content.' }),
  bytes: Type.Integer(),
})

const uploadFile = operationsOf('Playing')({
  access: { ...visitor, bodyBytesMax },
  mcp: 'app',
  id: 'upload_file',
  route: 'POST /apps/:id/uploads',
  summary: 'Store a file of the player for all players of an app.',
  description: 'A player has 20 MB and 200 files in an app, and an app 100 MB and 2,000 files.',
  input: { body: UploadSchema },
  output: { 200: UploadResponseSchema },
  errors: [
    ...writeErrors,
    ...appErrors,
    'busy',
    'not_declared',
    'not_joined',
    'data_limit',
    'asset_too_large',
    'bad_asset',
    'data_full',
    'storage_full',
    'account_closed',
    'account_suspended',
  ],
  async run(ctx, call) {
    const player = await getJoined(ctx, call, call.params.id, 'files')
    countCall(ctx, player, call)
    return addUpload(ctx, player, call.body.data)
  },
})

/** Files that players share in apps (`service.files`). */
export const uploadOperations = [uploadFile]
