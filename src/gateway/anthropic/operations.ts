import { anyMediaSchema } from '../../kernel/schema.ts'
import { anyone, key } from '../authentication.ts'
import { requestOf, unread } from '../call.ts'
import * as stored from '../files/files.ts'
import { download, uploadErrors } from '../files/operations.ts'
import { readUpload } from '../files/upload.ts'
import { AnthropicErrorSchema } from '../messages-api/error-response.ts'
import { operationWith } from '../operation.ts'
import * as files from './files.ts'
import * as models from './models.ts'
import * as schemas from './schemas.ts'

const operation = operationWith(AnthropicErrorSchema)

const listAnthropicModels = operation({
  id: 'list_anthropic_models',
  route: 'GET /models',
  tag: 'Models',
  summary: 'List the models.',
  access: anyone,
  input: { query: schemas.ModelListQuerySchema },
  output: { 200: schemas.AnthropicModelListSchema },
  errors: ['bad_request'],
  run: (ctx, { query }) => models.listModels(ctx, query),
})

const getAnthropicModel = operation({
  id: 'get_anthropic_model',
  route: 'GET /models/*',
  tag: 'Models',
  summary: 'Get a model.',
  access: anyone,
  output: { 200: schemas.AnthropicModelSchema },
  errors: ['no_model', 'not_found'],
  run: (ctx, { params }) => models.getModel(ctx, params['*']),
})

const uploadAnthropicFile = operation({
  id: 'upload_anthropic_file',
  route: 'POST /files',
  tag: 'Files',
  summary: 'Upload a file for messages.',
  access: key,
  input: { read: requestOf, bodies: { 'multipart/form-data': { schema: schemas.uploadSchema } } },
  output: { 200: schemas.AnthropicFileSchema },
  errors: uploadErrors,
  async run(ctx, { caller: spender, body }) {
    const upload = await readUpload(unread(body), files.readExpiry)
    return files.present(ctx, await stored.create(ctx, spender.account, upload))
  },
})

const listAnthropicFiles = operation({
  id: 'list_anthropic_files',
  route: 'GET /files',
  tag: 'Files',
  summary: 'List the files of your account.',
  access: key,
  // The framework keeps only the last value of a repeated parameter.
  input: { query: schemas.FileListQuerySchema, read: requestOf },
  output: { 200: schemas.AnthropicFileListSchema },
  errors: ['bad_request'],
  run: (ctx, { caller: spender, query, body: { request } }) => {
    const ids = new URL(request.url).searchParams.getAll('ids[]')
    return files.listFiles(ctx, spender.account, query, ids)
  },
})

const getAnthropicFile = operation({
  id: 'get_anthropic_file',
  route: 'GET /files/:id',
  tag: 'Files',
  summary: 'Get a file.',
  access: key,
  output: { 200: schemas.AnthropicFileSchema },
  errors: ['no_file', 'not_found'],
  run: async (ctx, { caller: spender, params }) =>
    files.present(ctx, await stored.use(ctx, spender.account, params.id)),
})

const getAnthropicFileContent = operation({
  id: 'get_anthropic_file_content',
  route: 'GET /files/:id/content',
  tag: 'Files',
  summary: 'Download the content of a file.',
  access: key,
  output: { 200: anyMediaSchema },
  errors: ['no_file', 'not_found'],
  run: (ctx, { caller: spender, params }) => download(ctx, spender.account, params.id),
})

const deleteAnthropicFile = operation({
  id: 'delete_anthropic_file',
  route: 'DELETE /files/:id',
  tag: 'Files',
  summary: 'Delete a file.',
  access: key,
  output: { 200: schemas.AnthropicDeletedFileSchema },
  errors: ['bad_request', 'too_large', 'no_file', 'not_found', 'try_again'],
  async run(ctx, { caller: spender, params }) {
    await stored.remove(ctx, spender.account, params.id)
    return { id: params.id, type: 'file_deleted' as const }
  },
})

/**
 * Routes of Anthropic's API beside its messages (docs/spec/gateway-decisions.md, "Anthropic
 * Messages"). Its clients use them below `/v1`.
 */
export const anthropicOperations = [
  listAnthropicModels,
  getAnthropicModel,
  uploadAnthropicFile,
  listAnthropicFiles,
  getAnthropicFile,
  getAnthropicFileContent,
  deleteAnthropicFile,
]
