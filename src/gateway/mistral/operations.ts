import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { Content } from '../../kernel/http/outcome.ts'
import { lookUp } from '../../kernel/schema.ts'
import { unixSeconds } from '../../kernel/time.ts'
import { isTranscriptionModel } from '../audio/transcriptions.ts'
import { type AccountId, key } from '../authentication.ts'
import { requestOf } from '../call.ts'
import { findModels, requireModel } from '../catalog/catalog.ts'
import { modelOperation } from '../catalog/operations.ts'
import { invalidField } from '../fields.ts'
import * as stored from '../files/files.ts'
import { findAll, type StoredFile } from '../files/files.ts'
import { download, fileOperation } from '../files/operations.ts'
import { expiryOf } from '../files/quota.ts'
import { type Form, readLifetime, readUpload } from '../files/upload.ts'
import type { Model } from '../models/catalog.ts'
import { mediaErrors, operationsOf, paidUpload } from '../operation.ts'
import * as schemas from './schemas.ts'
import type { FileListQuery, MistralFile, MistralFileList, sampleTypes } from './schemas.ts'
import { createMistralTranscription as transcribe, readForm } from './transcriptions.ts'

const operation = operationsOf('Files')
const modelOperationOf = operationsOf('Models')

const listMistralModels = modelOperationOf({
  ...modelOperation.list,
  id: 'list_mistral_models',
  input: { query: schemas.ModelListQuerySchema },
  output: { 200: schemas.MistralModelListSchema },
  run: (ctx, { query }) => ({
    object: 'list' as const,
    data: findModels(ctx, query.type).map(presentModel),
  }),
})

const getMistralModel = modelOperationOf({
  ...modelOperation.get,
  id: 'get_mistral_model',
  output: { 200: schemas.MistralModelSchema },
  run: (ctx, { params }) => presentModel(requireModel(ctx, params['*'])),
})

const uploadMistralFile = operation({
  id: 'upload_mistral_file',
  ...fileOperation.upload,
  summary: 'Upload a file.',
  input: {
    read: (sent) => readUpload(requestOf(sent), readExpiry),
    bodies: { 'multipart/form-data': { schema: schemas.uploadSchema } },
  },
  output: { 200: schemas.MistralFileSchema },
  async run(ctx, { caller: spender, body }) {
    return presentFile(ctx, await stored.create(ctx, spender.account, body))
  },
})

const listMistralFiles = operation({
  id: 'list_mistral_files',
  ...fileOperation.list,
  // The framework keeps only the last value of a repeated parameter.
  input: {
    query: schemas.FileListQuerySchema,
    read: async (sent) => new URL(requestOf(sent).url).searchParams,
  },
  output: { 200: schemas.MistralFileListSchema },
  run: (ctx, { caller: spender, query, body }) => listFiles(ctx, spender.account, query, body),
})

const getMistralFile = operation({
  id: 'get_mistral_file',
  ...fileOperation.get,
  output: { 200: schemas.MistralOneFileSchema },
  async run(ctx, { caller: spender, params }) {
    const file = await stored.use(ctx, spender.account, params.id)
    return { ...presentFile(ctx, file), deleted: false as const }
  },
})

const getMistralFileContent = operation({
  id: 'get_mistral_file_content',
  ...fileOperation.content,
  async run(ctx, { caller: spender, params }) {
    const { body, headers } = await download(ctx, spender.account, params.id)
    // Mistral's clients reject every other type.
    return new Content(body, { ...headers, 'content-type': 'application/octet-stream' })
  },
})

const getMistralFileUrl = operation({
  id: 'get_mistral_file_url',
  route: 'GET /files/:id/url',
  summary: 'Names the operation that downloads a file. Files have no signed URLs.',
  access: key,
  output: { 200: Type.Never() },
  errors: ['bad_request'],
  run: (_, { params: { id } }) => {
    const problem = `Files have no signed URLs. Download it with GET /v1/files/${id}/content.`
    throw new ApiError('bad_request', { problem })
  },
})

const deleteMistralFile = operation({
  id: 'delete_mistral_file',
  ...fileOperation.remove,
  output: { 200: schemas.DeletedFileSchema },
  async run(ctx, { caller: spender, params }) {
    await stored.remove(ctx, spender.account, params.id)
    return { id: params.id, object: 'file' as const, deleted: true as const }
  },
})

const createMistralTranscription = paidUpload({
  id: 'create_mistral_transcription',
  route: 'POST /audio/transcriptions',
  tag: 'Media',
  summary: 'Transcribe audio.',
  description: 'At most 32 MB. Charged by length; cost is in USD.',
  input: {
    'multipart/form-data': schemas.transcriptionRequestSchema,
    'application/x-www-form-urlencoded': schemas.transcriptionRequestSchema,
  },
  output: [schemas.MistralTranscriptionSchema, schemas.TranscriptionEventsSchema],
  errors: [...mediaErrors, 'no_file'],
  read: readForm,
  run: transcribe,
})

/**
 * Routes of Mistral's API (docs/spec/gateway-decisions.md, "Mistral"). Its clients use them below
 * `/v1`.
 */
export const operations = [
  listMistralModels,
  getMistralModel,
  uploadMistralFile,
  listMistralFiles,
  getMistralFile,
  getMistralFileContent,
  getMistralFileUrl,
  deleteMistralFile,
  createMistralTranscription,
]

/**
 * Converts a model to Mistral's format. Its clients reject a `type` other than `base`, so the
 * capabilities say what the model is for.
 */
function presentModel(model: Model): schemas.MistralModel {
  const { id, name, type, inputs, outputs, contextLength, ownedBy, supportsTools } = model
  const isChat = type === 'chat'
  return {
    id,
    object: 'model',
    created: 0,
    owned_by: ownedBy,
    name,
    max_context_length: contextLength,
    aliases: [],
    capabilities: {
      completion_chat: isChat,
      function_calling: isChat && supportsTools,
      completion_fim: false,
      fine_tuning: false,
      vision: isChat && inputs.includes('image'),
      ocr: false,
      classification: false,
      moderation: type === 'moderation',
      audio: isChat && inputs.includes('audio'),
      audio_transcription: type === 'audio' && isTranscriptionModel(model),
      audio_speech: type === 'audio' && outputs.includes('audio'),
    },
    type: 'base',
    ...schemas.unrecorded.model.values,
  }
}

const pageSizeDefault = 100
/** The purpose of the files that this server writes. */
const resultPurpose = 'batch_output'

const sampleTypesByPurpose: Record<string, (typeof sampleTypes)[number]> = {
  batch: 'batch_request',
  [resultPurpose]: 'batch_result',
  pretrain: 'pretrain',
}

/**
 * Lists the files of an account, newest first, in the numbered pages of Mistral's API. `words`: the
 * parameters, which may be repeated.
 */
async function listFiles(
  ctx: AppContext,
  account: AccountId,
  { page = 0, page_size: size = pageSizeDefault, include_total, search = '' }: FileListQuery,
  words: URLSearchParams,
): Promise<MistralFileList> {
  const isOneOf = (value: string, name: string): boolean =>
    !words.has(name) || words.getAll(name).includes(value)
  const files = (await findAll(ctx, account)).map((file) => presentFile(ctx, file))
  const matching = files.filter(
    ({ purpose, sample_type, source, mimetype, filename }) =>
      isOneOf(purpose, 'purpose') &&
      isOneOf(sample_type, 'sample_type') &&
      isOneOf(source, 'source') &&
      isOneOf(mimetype, 'mimetypes') &&
      filename.toLowerCase().includes(search.toLowerCase()),
  )
  return {
    object: 'list',
    data: matching.slice(page * size, (page + 1) * size),
    total: include_total === 'false' ? null : matching.length,
  }
}

/** Reads the lifetime of an upload, and checks its visibility. Throws `bad_request`. */
function readExpiry(form: Form): number | undefined {
  if (form.get('expiry') !== null) {
    throw invalidField('expiry', 'Send the lifetime in seconds, as "expires_after[seconds]".')
  }
  if ((form.get('visibility') ?? 'workspace') !== 'workspace') {
    throw invalidField('visibility', 'The files of an account have the visibility workspace.')
  }
  return readLifetime(form)
}

/** Converts a file to Mistral's format. */
function presentFile(ctx: AppContext, file: StoredFile): MistralFile {
  const expires = expiryOf(ctx, file)
  return {
    id: file.id,
    object: 'file',
    bytes: file.bytes,
    created_at: unixSeconds(file.created),
    expires_at: expires === null ? null : unixSeconds(expires),
    filename: file.filename,
    purpose: file.purpose,
    sample_type: lookUp(sampleTypesByPurpose, file.purpose) ?? 'instruct',
    mimetype: file.type,
    source: file.purpose === resultPurpose ? 'mistral' : 'upload',
    visibility: 'workspace',
    ...schemas.unrecorded.file.values,
  }
}
