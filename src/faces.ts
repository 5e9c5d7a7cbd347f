import type { AnyElysia } from 'elysia'

import type { PublicFile } from './core/public.ts'
import { guideFiles } from './hosting/start/routes.ts'
import type { House } from './house.ts'
import { mount } from './mount.ts'
import type { Pages } from './viewer/pages.ts'
import { viewer } from './viewer/routes.ts'
import { openLayout } from './web/layout.ts'
import { faultPage, missing, refusalPage } from './web/pages/error.ts'
import { peoplePages } from './web/people/routes.ts'
import { web } from './web/routes.ts'

/** What has a face: public links, pages for people, and the guides that agents find beside them. */
export function openFaces(
  house: House,
  files: Map<string, PublicFile>,
  pages: Pages,
  api: Pick<AnyElysia, 'handle'>,
) {
  const layout = openLayout(files, house.urls)
  return mount(house, ({ error, isUnmatched, fault }) => {
    if (isUnmatched) return missing(layout)
    return refusalPage(layout, error) ?? fault((id) => faultPage(layout, id))
  })
    .use(guideFiles(house, api))
    .use(viewer(pages))
    .use(web(house, layout))
    .use(peoplePages(house, layout))
}
