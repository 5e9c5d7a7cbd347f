import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { wholeQuery } from '../../kernel/http/list-query.ts'
import { fileKeptSecondsMax, fileKeptSecondsMin, listedModelsMax } from '../../kernel/limits.ts'
import {
  lenientObject,
  namedObject,
  nullable,
  nullFields,
  TimeSchema,
} from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import type { AccountId } from '../authentication.ts'
import { requestOf } from '../call.ts'
import { findModels, ModelTypesSchema, requireModel } from '../catalog/catalog.ts'
import { modelOperation } from '../catalog/operations.ts'
import { invalidField } from '../fields.ts'
import * as stored from '../files/files.ts'
import { findAll, type StoredFile } from '../files/files.ts'
import { download, fileOperation } from '../files/operations.ts'
import { expiryOf } from '../files/quota.ts'
import { type Form, readUpload } from '../files/upload.ts'
import { pageBetween } from '../list.ts'
import { AnthropicErrorSchema } from '../messages-api/client-api.ts'
import type { Model } from '../models/catalog.ts'
import { operationsOf } from '../operation.ts'

/** The fields of a model of which this server has no record. */
const unrecorded = nullFields('capabilities line deprecated_at retires_at')

/** A model of Anthropic's API. */
const AnthropicModelSchema = namedObject('AnthropicModel', {
  type: Type.Literal('model'),
  id: Type.String(),
  display_name: Type.String(),
  created_at: Type.String({
    format: 'date-time',
    description: 'The start of 1970: the release date is unknown.',
  }),
  max_input_tokens: nullable(Type.Integer()),
  max_tokens: nullable(Type.Integer({ description: 'Output tokens at most.' })),
  lifecycle: Type.Literal('active'),
  ...unrecorded.schemas,
})
type AnthropicModel = Static<typeof AnthropicModelSchema>

const cursors = {
  after_id: Type.Optional(Type.String({ description: 'Last id of the page before.' })),
  before_id: Type.Optional(Type.String({ description: 'First id of the page behind.' })),
}

const ModelListQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(listedModelsMax, '1 to 1,000, by default 20.')),
  ...cursors,
  type: ModelTypesSchema,
})
type ModelListQuery = Static<typeof ModelListQuerySchema>

const pageFields = {
  first_id: nullable(Type.String()),
  last_id: nullable(Type.String()),
  has_more: Type.Boolean(),
}

const AnthropicModelListSchema = Type.Object({
  data: Type.Array(AnthropicModelSchema),
  ...pageFields,
})
type AnthropicModelList = Static<typeof AnthropicModelListSchema>

/** A file of Anthropic's API. */
const AnthropicFileSchema = namedObject('AnthropicFile', {
  type: Type.Literal('file'),
  id: Type.String(),
  filename: Type.String(),
  mime_type: Type.String({ description: 'Detected from the content.' }),
  size_bytes: Type.Integer(),
  created_at: TimeSchema,
  expires_at: nullable(TimeSchema),
  downloadable: Type.Boolean(),
})
type AnthropicFile = Static<typeof AnthropicFileSchema>

const AnthropicFileListSchema = Type.Object({
  data: Type.Array(AnthropicFileSchema),
  ...pageFields,
  next_page: nullable(Type.String({ description: 'The value of `page` for the next page.' })),
})

const FileListQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(listedModelsMax, '1 to 1,000, by default 20.')),
  ...cursors,
  'ids[]': Type.Optional(
    Type.String({
      description: 'An id of a file to list. It may be repeated, 100 times at most.',
    }),
  ),
  page: Type.Optional(Type.String({ description: '`next_page` of the page before.' })),
})
type FileListQuery = Static<typeof FileListQuerySchema>
type AnthropicFileList = Static<typeof AnthropicFileListSchema>

const AnthropicDeletedFileSchema = Type.Object({
  id: Type.String(),
  type: Type.Literal('file_deleted'),
})

/** The body of an upload, which `readUpload` parses. */
const uploadSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  required: ['file'],
  properties: {
    file: { type: 'string', format: 'binary' },
    expires_in_seconds: {
      type: 'integer',
      minimum: fileKeptSecondsMin,
      maximum: fileKeptSecondsMax,
    },
  },
}

const operation = operationsOf('Files', AnthropicErrorSchema)
const modelOperationOf = operationsOf('Models', AnthropicErrorSchema)

const listAnthropicModels = modelOperationOf({
  ...modelOperation.list,
  id: 'list_anthropic_models',
  input: { query: ModelListQuerySchema },
  output: { 200: AnthropicModelListSchema },
  run: (ctx, { query }) => listModels(ctx, query),
})

const getAnthropicModel = modelOperationOf({
  ...modelOperation.get,
  id: 'get_anthropic_model',
  output: { 200: AnthropicModelSchema },
  run: (ctx, { params }) => presentModel(requireModel(ctx, params['*'])),
})

const uploadAnthropicFile = operation({
  id: 'upload_anthropic_file',
  ...fileOperation.upload,
  summary: 'Upload a file for messages.',
  input: {
    read: (sent) => readUpload(requestOf(sent), readExpiry),
    bodies: { 'multipart/form-data': { schema: uploadSchema } },
  },
  output: { 200: AnthropicFileSchema },
  async run(ctx, { caller: spender, body }) {
    return presentFile(ctx, await stored.create(ctx, spender.account, body))
  },
})

const listAnthropicFiles = operation({
  id: 'list_anthropic_files',
  ...fileOperation.list,
  // The framework keeps only the last value of a repeated parameter.
  input: {
    query: FileListQuerySchema,
    read: async (sent) => new URL(requestOf(sent).url).searchParams,
  },
  output: { 200: AnthropicFileListSchema },
  run: (ctx, { caller: spender, query, body }) =>
    listFiles(ctx, spender.account, query, body.getAll('ids[]')),
})

const getAnthropicFile = operation({
  id: 'get_anthropic_file',
  ...fileOperation.get,
  output: { 200: AnthropicFileSchema },
  run: async (ctx, { caller: spender, params }) =>
    presentFile(ctx, await stored.use(ctx, spender.account, params.id)),
})

const getAnthropicFileContent = operation({
  id: 'get_anthropic_file_content',
  ...fileOperation.content,
  run: (ctx, { caller: spender, params }) => download(ctx, spender.account, params.id),
})

const deleteAnthropicFile = operation({
  id: 'delete_anthropic_file',
  ...fileOperation.remove,
  output: { 200: AnthropicDeletedFileSchema },
  async run(ctx, { caller: spender, params }) {
    await stored.remove(ctx, spender.account, params.id)
    return { id: params.id, type: 'file_deleted' as const }
  },
})

/**
 * Routes of Anthropic's API beside its messages (docs/spec/gateway-decisions.md, "Anthropic
 * Messages"). Its clients use them below `/v1`.
 */
export const operations = [
  listAnthropicModels,
  getAnthropicModel,
  uploadAnthropicFile,
  listAnthropicFiles,
  getAnthropicFile,
  getAnthropicFileContent,
  deleteAnthropicFile,
]

const pageSizeDefault = 20
/** Anthropic's value for a model whose release date is unknown. */
const unknownDate = '1970-01-01T00:00:00Z'

/** Lists the models in the pages of Anthropic's API. Throws `bad_request`. */
function listModels(ctx: AppContext, query: ModelListQuery): AnthropicModelList {
  const { limit = pageSizeDefault, after_id: after, before_id: before, type } = query
  const size = requireWhole('limit', limit, listedModelsMax)
  const { page, ...ends } = pageBetween(findModels(ctx, type), { after, before }, size)
  return { data: page.map(presentModel), ...ends }
}

const presentModel = ({ id, name, contextLength, maxOutput }: Model): AnthropicModel => ({
  type: 'model',
  id,
  display_name: name,
  created_at: unknownDate,
  max_input_tokens: contextLength || null,
  max_tokens: maxOutput || null,
  lifecycle: 'active',
  ...unrecorded.values,
})

const idsMax = 100

/**
 * Lists the files of an account, newest first, in the pages of Anthropic's API: both those of ids
 * and those of `page`. `ids`: those of the only files to list, on one page. Throws `bad_request`.
 */
async function listFiles(
  ctx: AppContext,
  account: AccountId,
  { limit = pageSizeDefault, after_id, before_id: before, page: cursor }: FileListQuery,
  ids: string[],
): Promise<AnthropicFileList> {
  if (ids.length > idsMax) throw invalidField('ids', `Send at most ${idsMax} ids.`)
  const isByIds = ids.length > 0
  const size = isByIds ? idsMax : requireWhole('limit', limit, listedModelsMax)
  const files = await findAll(ctx, account)
  const listed = isByIds ? files.filter(({ id }) => ids.includes(id)) : files
  const { page, ...ends } = pageBetween(listed, { after: after_id ?? cursor, before }, size)
  const isForward = ends.has_more && before === undefined
  return {
    data: page.map((file) => presentFile(ctx, file)),
    ...ends,
    next_page: isForward ? ends.last_id : null,
  }
}

/** Reads `expires_in_seconds` of an upload. Throws `bad_request`. */
function readExpiry(form: Form): number | undefined {
  const text = form.get('expires_in_seconds')
  if (text === null) return undefined
  const seconds = /^\d{1,9}$/.test(String(text)) ? Number(text) : Number.NaN
  if (seconds >= fileKeptSecondsMin && seconds <= fileKeptSecondsMax) return seconds
  throw invalidField(
    'expires_in_seconds',
    `expires_in_seconds must be an integer from ${fileKeptSecondsMin} to ${fileKeptSecondsMax}.`,
  )
}

/** Converts a file to Anthropic's format. */
function presentFile(ctx: AppContext, file: StoredFile): AnthropicFile {
  const expires = expiryOf(ctx, file)
  return {
    type: 'file',
    id: file.id,
    filename: file.filename,
    mime_type: file.type,
    size_bytes: file.bytes,
    created_at: iso(file.created),
    expires_at: expires === null ? null : iso(expires),
    downloadable: true,
  }
}
