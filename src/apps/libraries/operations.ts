import { anyone } from '../../people/authentication.ts'
import { operationsOf } from '../../people/operation.ts'
import * as libraries from './libraries.ts'
import * as schemas from './schemas.ts'

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
  output: { 200: schemas.LibraryListSchema },
  errors: ['agents_off'],
  run: (ctx) => libraries.listLibraries(ctx),
})

const getLibraryLicense = operation({
  id: 'get_library_license',
  route: 'GET /libraries/license',
  summary: 'Read the license of a library.',
  access: anyone,
  input: { query: schemas.LicenseQuerySchema },
  output: { 200: schemas.LicenseSchema },
  errors: ['agents_off', 'bad_request', 'not_found'],
  run: (ctx, { query }) => libraries.getLicense(ctx, query.library),
})

/** The library store (docs/libraries.md). */
export const libraryOperations = [listLibraries, getLibraryLicense]
