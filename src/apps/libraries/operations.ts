import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Content, text } from '../../kernel/http/outcome.ts'
import { mediaSchema, namedObject, oneOf } from '../../kernel/schema.ts'
import { anyone } from '../../people/authentication.ts'
import { operationsOf } from '../../people/operation.ts'
import { bytesOf, labelOf, readText } from './library.ts'

const LibrarySchema = namedObject('Library', {
  name: Type.String({ description: 'npm name.' }),
  version: Type.String(),
  license: Type.String({ description: 'SPDX name, or "unknown".' }),
  source: oneOf(['embedded', 'added', 'fetched']),
  files: Type.Integer(),
  bytes: Type.Integer(),
})
type LibraryBody = Static<typeof LibrarySchema>

const LibraryListSchema = Type.Object({ libraries: Type.Array(LibrarySchema) })

const LicenseQuerySchema = Type.Object({
  library: Type.String({ maxLength: 300, description: 'Name and version: "three@0.180.0".' }),
})

const LicenseSchema = mediaSchema('text/plain', { description: 'The license texts.' })

const operation = operationsOf('Apps')

const listLibraries = operation({
  id: 'list_libraries',
  route: 'GET /libraries',
  mcp: 'shown',
  summary: 'List the npm packages that pages can load.',
  description:
    'A page loads them by their URLs on jsDelivr, unpkg, cdnjs, esm.sh, esm.run, Skypack, ' +
    'JSPM, Google Fonts or the play CDN of Tailwind. The files come from this server and ' +
    'are pinned when the page is published.',
  access: anyone,
  output: { 200: LibraryListSchema },
  errors: ['agents_off'],
  run: (ctx) => describeAll(ctx),
})

const getLibraryLicense = operation({
  id: 'get_library_license',
  route: 'GET /libraries/license',
  summary: 'Read the license of a library.',
  access: anyone,
  input: { query: LicenseQuerySchema },
  output: { 200: LicenseSchema },
  errors: ['agents_off', 'bad_request', 'not_found'],
  run: (ctx, { query }) => getLicense(ctx, query.library),
})

/** The library store (docs/libraries.md). */
export const libraryOperations = [listLibraries, getLibraryLicense]

/** Lists the libraries by name, newest version first. */
async function describeAll(ctx: AppContext): Promise<{ libraries: LibraryBody[] }> {
  const all = await ctx.libraries.list()
  return {
    libraries: all.map((library) => {
      const { name, version, license, source, files } = library
      return { name, version, license, source, files: files.size, bytes: bytesOf(library) }
    }),
  }
}

const licenseFile = /^(?:licen[cs]e|copying|ofl|notice)[^/]*$/i

/** Returns the license texts of a library. Throws `not_found`. */
async function getLicense(ctx: AppContext, label: string): Promise<Content> {
  const library = (await ctx.libraries.list()).find((one) => labelOf(one) === label)
  if (!library)
    throw new ApiError('not_found', { what: 'library', see: 'GET /libraries lists them.' })
  const paths = [...library.files.keys()].filter((path) => licenseFile.test(path))
  const texts = await Promise.all(paths.map((path) => readText(library, path)))
  const named = `${label}: ${library.license}`
  return text('text/plain', [named, ...texts].join('\n\n'))
}
