import type { AppContext } from '../kernel/context.ts'
import { rejectRequest } from '../kernel/errors.ts'
import type { IncomingCall } from '../kernel/http/operation.ts'
import { createValidator } from '../kernel/http/validation.ts'
import { idempotencyKeyOf } from '../money/idempotency/idempotency.ts'
import { readJson } from '../money/perform.ts'
import { priceErrors, publishErrors, writeErrors } from '../people/operation.ts'
import { pageZipLimits } from './folders/limits.ts'
import { type LocatedFolder, readFolder } from './folders/locate.ts'
import { decodeFiles, fieldsOf, readZipRequest, zipOf } from './folders/request.ts'
import type { InputFile } from './folders/unzip.ts'
import { type PublishAppRequest, PublishAppSchema } from './schemas.ts'
import { type PublishVersionRequest, PublishVersionSchema } from './versions/schemas.ts'

export const publishRequestErrors = [
  ...writeErrors,
  ...publishErrors,
  ...priceErrors,
  'assets_off',
  'asset_too_large',
  'bad_asset',
  'too_many_assets',
  'assets_full',
  'no_builder',
  'no_studio',
] as const

/** A page to publish, with the files of its folder. */
export interface PageUpload {
  html: string
  folder?: UploadedFolder
}

/** A folder without the HTML of its page. */
export type UploadedFolder = Omit<LocatedFolder, 'html'>

/** Fields that are not texts, in the query of a zip. */
const jsonFields = new Set(['store', 'dryRun', 'priceRemix', 'maxCredits', 'uses'])

const rejectFolder = (reasons: string[]): never => {
  rejectRequest(`Not published: ${reasons.join(' ')}`)
}

/** Finds the page of a folder. Throws `bad_request` and `try_again`. */
async function packFolder(files: InputFile[]): Promise<PageUpload> {
  const read = await readFolder(files)
  if ('problem' in read) return rejectFolder([read.problem])
  const { html, ...folder } = read
  return { html, folder }
}

type SourceFields = Pick<PublishAppRequest, 'html' | 'files' | 'prompt' | 'uses' | 'ref'> &
  Pick<PublishVersionRequest, 'patch'>

/**
 * Returns a function that reads a request as `page` or as `build`, with its idempotency key: JSON
 * with exactly one of its sources, or a zip whose fields are query parameters. It throws
 * `bad_request`, `too_large`, `asset_too_large` and `try_again`.
 */
function requestReader<Body extends SourceFields>(
  validate: (body: unknown) => void,
  others = '"files" and "prompt"',
) {
  return async (call: IncomingCall, { config }: AppContext) => {
    const zip = zipOf(call)
    const body = zip ? fieldsOf(call, jsonFields) : await readJson(call, { takesZip: true })
    validate(body)
    // The validator has just checked it.
    const { html, files, ...fields }: Body = Object(body)
    const { prompt, patch } = fields
    const sources = [html, files, prompt, patch, zip].filter((one) => one !== undefined)
    if (sources.length !== 1)
      rejectRequest(`Send exactly one of "html", ${others}, or a zip as the body.`)
    if (prompt !== undefined && fields.uses)
      rejectRequest('The builder finds what a page uses. Send "uses" without "prompt".', 'uses')
    const ref = idempotencyKeyOf(call, fields.ref)
    const input = { ...fields, ...(ref && { ref }) }
    if (html !== undefined) return { page: { ...input, html } }
    // `publishVersion` makes the page from the newest version.
    if (patch) return { page: { ...input, html: '' } }
    if (files)
      return { page: { ...input, ...(await packFolder(decodeFiles(files, rejectFolder))) } }
    if (!zip) return { build: input }
    const unzipped = await readZipRequest(zip, pageZipLimits(config), rejectFolder)
    return { page: { ...input, ...(await packFolder(unzipped)) } }
  }
}

export const readPublishRequest = requestReader<PublishAppRequest>(
  createValidator(PublishAppSchema),
)
/** Reads POST /apps/{id}/versions. */
export const readVersionRequest = requestReader<PublishVersionRequest>(
  createValidator(PublishVersionSchema),
  '"files", "prompt" and "patch"',
)
