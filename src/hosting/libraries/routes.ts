import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { publicOperation } from '../operation.ts'
import { getLicense, listLibraries } from './libraries.ts'
import * as schemas from './schemas.ts'

/** The library store (docs/libraries.md). */
export const libraryRoutes = (ctx: AppContext) =>
  new Elysia()
    .get(
      '/libraries',
      () => listLibraries(ctx),
      publicOperation(
        {
          id: 'list_libraries',
          tag: 'Apps',
          mcp: 'shown',
          summary: 'List the npm packages that pages can load.',
          description:
            'A page loads them by their URLs on jsDelivr, unpkg, cdnjs, esm.sh, esm.run, Skypack, ' +
            'JSPM, Google Fonts or the play CDN of Tailwind. The files come from this server and ' +
            'are pinned when the page is published.',
        },
        { 200: schemas.LibraryListSchema },
        ['agents_off'],
      ),
    )
    .get('/libraries/license', ({ query }) => getLicense(ctx, query.library), {
      query: schemas.LicenseQuerySchema,
      ...publicOperation(
        { id: 'get_library_license', tag: 'Apps', summary: 'Read the license of a library.' },
        { 200: schemas.LicenseSchema },
        ['agents_off', 'bad_request', 'not_found'],
      ),
    })
