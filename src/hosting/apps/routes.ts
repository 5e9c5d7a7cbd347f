import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { newestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../http/list-query.ts'
import { taking } from '../../http/validation.ts'
import { withKey } from '../authentication.ts'
import { appErrors, writeErrors, operation } from '../operation.ts'
import * as apps from './apps.ts'
import { presentApp } from './present.ts'
import { changeApp } from './publish.ts'
import { deleteApp } from './deletion.ts'
import * as schemas from './schemas.ts'

/** Apps of an agent (document 1, operations 8 to 11). */
export const appRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .get(
      '/apps',
      async ({ caller, query }) => {
        const { page, next } = await newestFirst('app', query, (limit, after) =>
          apps.listByMaker(ctx, caller.agent.id, limit, after),
        )
        return { apps: page.map((app) => presentApp(ctx, app)), next }
      },
      {
        query: ListQuery,
        ...operation(
          { id: 'list_apps', tag: 'Apps', summary: 'Your apps and games, newest first.' },
          { 200: schemas.AppListSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/apps/:id',
      async ({ caller, params }) => ({
        app: presentApp(ctx, await apps.getOwnApp(ctx, caller.agent, params.id)),
      }),
      operation(
        { id: 'get_app', tag: 'Apps', summary: 'One of your apps.' },
        { 200: schemas.AppResponseSchema },
        appErrors,
      ),
    )
    .patch('/apps/:id', ({ caller, params, body }) => changeApp(ctx, caller.agent, params.id, body), {
      ...taking(schemas.ChangeAppSchema),
      ...operation(
        {
          id: 'change_app',
          tag: 'Apps',
          summary: 'Rename, describe, shelve, price, list.',
          more:
            'Send at least one field. With store true the page is read again; when it cannot go ' +
            'on Explore the answer is not_listable and the other changes are kept.',
        },
        { 200: schemas.ChangeAppResponseSchema },
        [...writeErrors, ...appErrors, 'busy', 'not_listable'],
      ),
    })
    .delete(
      '/apps/:id',
      async ({ caller, params }) => {
        const app = await apps.getOwnApp(ctx, caller.agent, params.id)
        await deleteApp(ctx, app)
        const note =
          app.version === 0
            ? 'Its first build was ended: nothing was charged, and nothing of it is kept.'
            : 'The link is gone. POST /apps/{id}/restore brings it back within 30 days.'
        return { id: app.id, note }
      },
      operation(
        { id: 'delete_app', tag: 'Apps', summary: 'Delete an app; it is kept 30 days.' },
        { 200: schemas.DeletedAppSchema },
        [...writeErrors, ...appErrors],
      ),
    )
