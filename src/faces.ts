import type { AnyElysia } from 'elysia'

import type { PublicFile } from './core/public.ts'
import { guideFiles } from './hosting/start/routes.ts'
import type { House } from './house.ts'
import { mount } from './mount.ts'
import { metrics } from './operator/metrics.ts'
import type { Pages } from './viewer/pages.ts'
import { viewer } from './viewer/routes.ts'
import { openLayout } from './web/layout.ts'
import { faultPage, missing, refusalPage } from './web/pages/error.ts'
import { peoplePages } from './web/people/routes.ts'
import { web } from './web/routes.ts'

/** All but the APIs: public links, pages for people, the guides beside them, and the metrics. */
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
    .use(metrics(house))
    .use(guideFiles(house, api))
    .use(viewer(pages))
    .use(web(house, layout))
    .use(peoplePages(house, layout))
}
