import type { AppContext } from '../../kernel/context.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { fileKeptSecondsMax, fileKeptSecondsMin, listedModelsMax } from '../../kernel/limits.ts'
import { iso } from '../../kernel/time.ts'
import type { AccountId } from '../authentication.ts'
import { requestOf } from '../call.ts'
import { findModels, requireModel } from '../catalog/catalog.ts'
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
import * as schemas from './schemas.ts'
import type { AnthropicFile, AnthropicFileList, FileListQuery } from './schemas.ts'

const operation = operationsOf('Files', AnthropicErrorSchema)
const modelOperationOf = operationsOf('Models', AnthropicErrorSchema)

const listAnthropicModels = modelOperationOf({
  ...modelOperation.list,
  id: 'list_anthropic_models',
  input: { query: schemas.ModelListQuerySchema },
  output: { 200: schemas.AnthropicModelListSchema },
  run: (ctx, { query }) => listModels(ctx, query),
})

const getAnthropicModel = modelOperationOf({
  ...modelOperation.get,
  id: 'get_anthropic_model',
  output: { 200: schemas.AnthropicModelSchema },
  run: (ctx, { params }) => presentModel(requireModel(ctx, params['*'])),
})

const uploadAnthropicFile = operation({
  id: 'upload_anthropic_file',
  ...fileOperation.upload,
  summary: 'Upload a file for messages.',
  input: {
    read: (sent) => readUpload(requestOf(sent), readExpiry),
    bodies: { 'multipart/form-data': { schema: schemas.uploadSchema } },
  },
  output: { 200: schemas.AnthropicFileSchema },
  async run(ctx, { caller: spender, body }) {
    return presentFile(ctx, await stored.create(ctx, spender.account, body))
  },
})

const listAnthropicFiles = operation({
  id: 'list_anthropic_files',
  ...fileOperation.list,
  // The framework keeps only the last value of a repeated parameter.
  input: {
    query: schemas.FileListQuerySchema,
    read: async (sent) => new URL(requestOf(sent).url).searchParams,
  },
  output: { 200: schemas.AnthropicFileListSchema },
  run: (ctx, { caller: spender, query, body }) =>
    listFiles(ctx, spender.account, query, body.getAll('ids[]')),
})

const getAnthropicFile = operation({
  id: 'get_anthropic_file',
  ...fileOperation.get,
  output: { 200: schemas.AnthropicFileSchema },
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
  output: { 200: schemas.AnthropicDeletedFileSchema },
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
function listModels(ctx: AppContext, query: schemas.ModelListQuery): schemas.AnthropicModelList {
  const { limit = pageSizeDefault, after_id: after, before_id: before, type } = query
  const size = requireWhole('limit', limit, listedModelsMax)
  const { page, ...ends } = pageBetween(findModels(ctx, type), { after, before }, size)
  return { data: page.map(presentModel), ...ends }
}

const presentModel = ({ id, name, contextLength, maxOutput }: Model): schemas.AnthropicModel => ({
  type: 'model',
  id,
  display_name: name,
  created_at: unknownDate,
  max_input_tokens: contextLength || null,
  max_tokens: maxOutput || null,
  lifecycle: 'active',
  ...schemas.unrecorded.values,
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
