import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../context.ts'
import { anyMediaSchema } from '../../core/schema.ts'
import { fileKeptSecondsMax, fileKeptSecondsMin } from '../../limits.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation } from '../operation.ts'
import * as files from './files.ts'
import * as schemas from './schemas.ts'
import { purposePattern, readUpload } from './upload.ts'

/** The body of an upload, which `readUpload` parses. */
const uploadSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  required: ['file'],
  properties: {
    file: { type: 'string', format: 'binary' },
    purpose: { type: 'string', pattern: purposePattern.source, default: 'user_data' },
    expires_after: {
      type: 'object',
      description: 'When the file expires. By default, 30 days after its last use.',
      required: ['anchor', 'seconds'],
      properties: {
        anchor: { type: 'string', enum: ['created_at'] },
        seconds: { type: 'integer', minimum: fileKeptSecondsMin, maximum: fileKeptSecondsMax },
      },
    },
  },
}

/** Returns headers that make browsers save a file and never render it. */
const contentHeaders = ({ type, filename }: files.StoredFile): Record<string, string> => ({
  'content-type': type,
  'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
})

/** Routes of files that chat requests name by id (document 2, POST /v1/files). */
export const fileRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .post(
      '/files',
      async ({ spender, request }) => {
        const upload = await readUpload(request)
        return files.present(ctx, await files.create(ctx, spender.account, upload))
      },
      keyOperation(
        {
          id: 'upload_file',
          tag: 'Files',
          input: 'handler',
          summary: 'Upload a file for chat requests.',
          description:
            'PDF, text or Markdown, PNG, JPEG, WebP, GIF, MP3, Ogg, WAV, MP4 or WebM, detected from ' +
            'the content; at most 32 MB. Errors: W604 (type), W605 (size), W610 (unreadable).',
          requestBodies: { 'multipart/form-data': { schema: uploadSchema } },
        },
        { 200: schemas.FileSchema },
        [
          'bad_request',
          'upload_type',
          'upload_too_large',
          'upload_unreadable',
          'files_full',
          'uploads_limit',
          'try_again',
        ],
      ),
    )
    .get('/files', ({ spender, query }) => files.list(ctx, spender.account, query), {
      query: schemas.FileListQuerySchema,
      ...keyOperation(
        { id: 'list_files', tag: 'Files', summary: 'List the files of your account.' },
        { 200: schemas.FileListSchema },
        ['bad_request'],
      ),
    })
    .get(
      '/files/:id',
      async ({ spender, params }) =>
        files.present(ctx, await files.use(ctx, spender.account, params.id)),
      keyOperation(
        { id: 'get_file', tag: 'Files', summary: 'Get a file.' },
        { 200: schemas.FileSchema },
        ['no_file', 'not_found'],
      ),
    )
    .get(
      '/files/:id/content',
      async ({ spender, params }) => {
        const file = await files.use(ctx, spender.account, params.id)
        return new Response(await files.readBytes(ctx, file), { headers: contentHeaders(file) })
      },
      keyOperation(
        { id: 'get_file_content', tag: 'Files', summary: 'Download the content of a file.' },
        { 200: anyMediaSchema },
        ['no_file', 'not_found'],
      ),
    )
    .delete(
      '/files/:id',
      async ({ spender, params }) => {
        await files.remove(ctx, spender.account, params.id)
        return { id: params.id, object: 'file' as const, deleted: true as const }
      },
      keyOperation(
        { id: 'delete_file', tag: 'Files', summary: 'Delete a file.' },
        { 200: schemas.DeletedFileSchema },
        ['bad_request', 'too_large', 'no_file', 'not_found', 'try_again'],
      ),
    )
