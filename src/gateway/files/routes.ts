import { Elysia } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../context.ts'
import { Media } from '../../core/schema.ts'
import { fileKeptSecondsMax, fileKeptSecondsMin } from '../../limits.ts'
import { keyAuth } from '../authentication.ts'
import { keyOperation } from '../operation.ts'
import * as files from './files.ts'
import * as schemas from './schemas.ts'
import { readUpload } from './upload.ts'

/** Files that chat requests name by their id (document 2, POST /v1/files). */
export const fileRoutes = (ctx: AppContext) =>
  new Elysia().use(uploadRoute(ctx)).use(ownRoutes(ctx))

/** What `readUpload` takes, for the description: the body is read by hand. */
const takes: Record<string, { schema: OpenAPIV3.SchemaObject }> = {
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: ['file'],
      properties: {
        file: { type: 'string', format: 'binary' },
        purpose: { type: 'string', description: 'user_data when left out.' },
        expires_after: {
          type: 'object',
          description: 'Until when it is kept; else until it is deleted.',
          required: ['anchor', 'seconds'],
          properties: {
            anchor: { type: 'string', enum: ['created_at'] },
            seconds: {
              type: 'integer',
              minimum: fileKeptSecondsMin,
              maximum: fileKeptSecondsMax,
            },
          },
        },
      },
    },
  },
}

const uploadRoute = (ctx: AppContext) =>
  new Elysia().use(keyAuth(ctx)).post(
    '/files',
    async ({ spender, request }) => {
      const upload = await readUpload(request)
      return files.present(await files.create(ctx, spender.account, upload))
    },
    {
      ...keyOperation(
        {
          id: 'upload_file',
          tag: 'Files',
          input: 'handler',
          summary: 'Upload a file, to be named in chat requests.',
          more:
            'PDF, text or Markdown, PNG, JPEG, WebP, GIF, MP3, Ogg, WAV, MP4 or WebM, told by the ' +
            'content; at most 32 MB. Refused with W604 (type), W605 (size) or W610 (unreadable).',
          takes,
        },
        { 200: schemas.FileSchema },
        [
          'bad_request',
          'upload_type',
          'upload_too_large',
          'upload_unreadable',
          'files_full',
          'try_again',
        ],
      ),
    },
  )

const ownRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(keyAuth(ctx))
    .get('/files', ({ spender, query }) => files.list(ctx, spender.account, query), {
      query: schemas.FileListQuerySchema,
      ...keyOperation(
        { id: 'list_files', tag: 'Files', summary: 'The files of your account.' },
        { 200: schemas.FileListSchema },
        ['bad_request'],
      ),
    })
    .get(
      '/files/:id',
      async ({ spender, params }) =>
        files.present(await files.get(ctx, spender.account, params.id)),
      keyOperation(
        { id: 'get_file', tag: 'Files', summary: 'One file.' },
        { 200: schemas.FileSchema },
        ['no_file'],
      ),
    )
    .get(
      '/files/:id/content',
      async ({ spender, params }) => {
        const file = await files.get(ctx, spender.account, params.id)
        return new Response(await files.readBytes(ctx, file), { headers: headersOf(file) })
      },
      keyOperation(
        { id: 'get_file_content', tag: 'Files', summary: 'The bytes of a file.' },
        { 200: Media('*/*') },
        ['no_file'],
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
        ['bad_request', 'too_large', 'no_file', 'try_again'],
      ),
    )

/** A file goes back with the type its content has, to be saved and never shown as a page. */
const headersOf = ({ type, filename }: files.StoredFile): Record<string, string> => ({
  'content-type': type,
  'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
})
