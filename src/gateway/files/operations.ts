import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../kernel/context.ts'
import { Content } from '../../kernel/http/outcome.ts'
import { fileKeptSecondsMax, fileKeptSecondsMin } from '../../kernel/limits.ts'
import { anyMediaSchema } from '../../kernel/schema.ts'
import { type AccountId, key } from '../authentication.ts'
import { requestOf } from '../call.ts'
import { operationsOf } from '../operation.ts'
import * as files from './files.ts'
import { purposePattern, readUpload } from './upload.ts'

const operation = operationsOf('Files')

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

/** The errors of an upload, beside those of its key. */
const uploadErrors = [
  'bad_request',
  'upload_type',
  'upload_too_large',
  'upload_unreadable',
  'files_full',
  'uploads_limit',
  'try_again',
] as const

/** The declarations of operations on files that are equal in every API of clients. */
export const fileOperation = {
  upload: { route: 'POST /files', access: key, errors: uploadErrors },
  list: {
    route: 'GET /files',
    summary: 'List the files of your account.',
    access: key,
    errors: ['bad_request'],
  },
  get: {
    route: 'GET /files/:id',
    summary: 'Get a file.',
    access: key,
    errors: ['no_file', 'not_found'],
  },
  content: {
    route: 'GET /files/:id/content',
    summary: 'Download the content of a file.',
    access: key,
    output: { 200: anyMediaSchema },
    errors: ['no_file', 'not_found'],
  },
  remove: {
    route: 'DELETE /files/:id',
    summary: 'Delete a file.',
    access: key,
    errors: ['bad_request', 'too_large', 'no_file', 'not_found', 'try_again'],
  },
} as const

/** Returns headers that make browsers save a file and never render it. */
const contentHeaders = ({ type, filename }: files.StoredFile): Record<string, string> => ({
  'content-type': type,
  'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`,
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cache-control': 'private, no-store',
})

/** Returns the content of a file as a download. Throws `no_file`. */
export async function download(ctx: AppContext, account: AccountId, id: string): Promise<Content> {
  const file = await files.use(ctx, account, id)
  return new Content(await files.readBytes(ctx, file), contentHeaders(file))
}

const uploadFile = operation({
  id: 'upload_file',
  ...fileOperation.upload,
  summary: 'Upload a file for chat requests.',
  description:
    'PDF, text or Markdown, PNG, JPEG, WebP, GIF, MP3, Ogg, WAV, M4A, FLAC, AAC, MP4 or WebM, detected from ' +
    'the content; at most 32 MB. Errors: W604 (type), W605 (size), W610 (unreadable).',
  input: {
    read: (sent) => readUpload(requestOf(sent)),
    bodies: { 'multipart/form-data': { schema: uploadSchema } },
  },
  output: { 200: files.FileSchema },
  async run(ctx, { caller: spender, body }) {
    return files.present(ctx, await files.create(ctx, spender.account, body))
  },
})

const listFiles = operation({
  id: 'list_files',
  ...fileOperation.list,
  description: 'The SDKs of Anthropic and Mistral get the format of their own API.',
  input: { query: files.FileListQuerySchema },
  output: { 200: files.FileListSchema },
  run: (ctx, { caller: spender, query }) => files.list(ctx, spender.account, query),
})

const getFile = operation({
  id: 'get_file',
  ...fileOperation.get,
  description: 'The SDKs of Anthropic and Mistral get the format of their own API.',
  output: { 200: files.FileSchema },
  run: async (ctx, { caller: spender, params }) =>
    files.present(ctx, await files.use(ctx, spender.account, params.id)),
})

const getFileContent = operation({
  id: 'get_file_content',
  ...fileOperation.content,
  run: (ctx, { caller: spender, params }) => download(ctx, spender.account, params.id),
})

const deleteFile = operation({
  id: 'delete_file',
  ...fileOperation.remove,
  output: { 200: files.DeletedFileSchema },
  async run(ctx, { caller: spender, params }) {
    await files.remove(ctx, spender.account, params.id)
    return { id: params.id, object: 'file' as const, deleted: true as const }
  },
})

/** Routes of files that chat requests name by id (document 2, POST /v1/files). */
export const fileOperations = [uploadFile, listFiles, getFile, getFileContent, deleteFile]
