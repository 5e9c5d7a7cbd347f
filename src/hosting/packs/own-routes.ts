import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '../../context.ts'
import { pageHighestFirst, pageNewestFirst } from '../../core/cursor.ts'
import { ListQuery } from '../../http/list-query.ts'
import * as apps from '../apps/apps.ts'
import { deleteApp, restoreDeletedApp } from '../apps/deletion.ts'
import { changeItem } from '../apps/publish.ts'
import { ChangeAppSchema, DeletedAppSchema } from '../apps/schemas.ts'
import { presentVersion, restoreVersion } from '../apps/versions/versions.ts'
import { callerAuth } from '../authentication.ts'
import type { PackKind } from '../kinds.ts'
import { agentOperation, appErrors, publishErrors, writeErrors } from '../operation.ts'
import { presentOwn } from './packs.ts'
import * as schemas from './schemas.ts'

const tag = 'Skills and frameworks'
const VersionNumber = t.Numeric({ minimum: 1, maximum: 1_000_000, multipleOf: 1 })

/** Operations of a maker on its packs, the same as those on apps. */
export const ownPackRoutes = (ctx: AppContext, kind: PackKind) =>
  new Elysia().use(listRoutes(ctx, kind)).use(versionRoutes(ctx, kind)).use(changeRoutes(ctx, kind))

const listRoutes = (ctx: AppContext, kind: PackKind) =>
  new Elysia().use(callerAuth(ctx)).get(
    `/${kind}s`,
    async ({ caller, query }) => {
      const { page, next } = await pageNewestFirst(kind, query, (limit, after) =>
        apps.listByMaker(ctx, caller.agent.id, limit, after, [kind]),
      )
      const packs = await Promise.all(page.map((item) => presentOwn(ctx, item)))
      return { [`${kind}s`]: packs.map((pack) => Object.values(pack)[0]), next }
    },
    {
      query: ListQuery,
      ...agentOperation(
        { id: `list_${kind}s`, tag, summary: `List your ${kind}s, newest first.` },
        { 200: schemas.responses[kind].list },
        ['bad_request'],
      ),
    },
  )

const versionRoutes = (ctx: AppContext, kind: PackKind) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      `/${kind}s/:id/versions`,
      async ({ caller, params, query }) => {
        const item = await apps.getOwnApp(ctx, caller.agent, params.id, [kind])
        const find = (limit: number, before: number | undefined) =>
          apps.listVersions(ctx, item, limit, before)
        const numberOf = ({ version }: apps.Version): number => version
        const { page, next } = await pageHighestFirst('version', query, numberOf, find)
        return { versions: page.map(presentVersion), next }
      },
      {
        params: Type.Object({ id: Type.String() }),
        query: ListQuery,
        ...agentOperation(
          { id: `list_${kind}_versions`, tag, summary: `List the versions of your ${kind}.` },
          { 200: schemas.PackVersionListSchema },
          ['bad_request', ...appErrors],
        ),
      },
    )
    .post(
      `/${kind}s/:id/versions/:version/restore`,
      async ({ caller, params: { id, version }, status }) => {
        const done = await restoreVersion(ctx, caller.agent, id, version, [kind])
        return status(201, { ...(await presentOwn(ctx, done.app)), note: done.note })
      },
      {
        params: Type.Object({ id: Type.String(), version: VersionNumber }),
        ...agentOperation(
          {
            id: `restore_${kind}_version`,
            tag,
            limits: ['publishes_limit'],
            input: 'empty',
            summary: `Publish an older version of your ${kind} again.`,
          },
          { 201: schemas.responses[kind].changed },
          [...writeErrors, ...appErrors, ...publishErrors],
        ),
      },
    )

const changeRoutes = (ctx: AppContext, kind: PackKind) =>
  new Elysia()
    .use(callerAuth(ctx))
    .patch(
      `/${kind}s/:id`,
      async ({ caller, params, body }) => {
        const { item, note } = await changeItem(ctx, caller.agent, params.id, body, [kind])
        return { ...(await presentOwn(ctx, item)), note }
      },
      {
        params: Type.Object({ id: Type.String() }),
        body: ChangeAppSchema,
        ...agentOperation(
          {
            id: `change_${kind}`,
            tag,
            summary: `Change the title, description, shelf, price or Explore listing of a ${kind}.`,
            description: 'SKILL.md stays as it is. With store true it is scanned again.',
          },
          { 200: schemas.responses[kind].changed },
          [...writeErrors, ...appErrors, 'not_listable'],
        ),
      },
    )
    .delete(
      `/${kind}s/:id`,
      async ({ caller, params }) => {
        const item = await apps.getOwnApp(ctx, caller.agent, params.id, [kind])
        await deleteApp(ctx, item)
        const note = `POST /${kind}s/{id}/restore restores it within 30 days.`
        return { id: item.id, note }
      },
      {
        params: Type.Object({ id: Type.String() }),
        ...agentOperation(
          { id: `delete_${kind}`, tag, summary: `Delete a ${kind}; restorable for 30 days.` },
          { 200: DeletedAppSchema },
          [...writeErrors, ...appErrors],
        ),
      },
    )
    .post(
      `/${kind}s/:id/restore`,
      async ({ caller, params }) =>
        presentOwn(ctx, await restoreDeletedApp(ctx, caller.agent, params.id, [kind])),
      {
        params: Type.Object({ id: Type.String() }),
        ...agentOperation(
          {
            id: `restore_${kind}`,
            tag,
            onFullDisk: 'allow',
            input: 'empty',
            summary: `Restore a ${kind} that was deleted within the last 30 days.`,
          },
          { 200: schemas.responses[kind].one },
          [...writeErrors, ...appErrors, 'skill_name_taken'],
        ),
      },
    )
