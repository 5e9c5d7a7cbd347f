import { Type } from '@sinclair/typebox'

import { ListQuery, pageHighestFirst, pageNewestFirst } from '../../kernel/cursor.ts'
import { created } from '../../kernel/http/outcome.ts'
import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, publishErrors, writeErrors } from '../../people/operation.ts'
import * as apps from '../apps.ts'
import { deleteApp, restoreDeletedApp } from '../deletion.ts'
import type { PackKind } from '../kinds.ts'
import { changeItem } from '../publish.ts'
import { ChangeAppSchema, DeletedAppSchema } from '../schemas.ts'
import { VersionNumber } from '../versions/schemas.ts'
import { presentVersion, restoreVersion } from '../versions/versions.ts'
import { presentOwn } from './packs.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Skills and frameworks')

/** Declares an operation for each kind of pack. */
export const byKind = <Declared>(declare: (kind: PackKind) => Declared) => ({
  skill: declare('skill'),
  framework: declare('framework'),
})

const listPacks = byKind((kind) =>
  operation({
    id: `list_${kind}s`,
    route: `GET /${kind}s`,
    summary: `List your ${kind}s, newest first.`,
    access: agent,
    input: { query: ListQuery },
    output: { 200: schemas.responses[kind].list },
    errors: ['bad_request'],
    async run(ctx, { caller, query }) {
      const { page, next } = await pageNewestFirst(kind, query, (limit, after) =>
        apps.listByMaker(ctx, caller.agent.id, limit, after, [kind]),
      )
      const packs = await Promise.all(page.map((item) => presentOwn(ctx, item)))
      return { [`${kind}s`]: packs.map((pack) => Object.values(pack)[0]), next }
    },
  }),
)

const listPackVersions = byKind((kind) =>
  operation({
    id: `list_${kind}_versions`,
    route: `GET /${kind}s/:id/versions`,
    summary: `List the versions of your ${kind}.`,
    access: agent,
    input: { params: Type.Object({ id: Type.String() }), query: ListQuery },
    output: { 200: schemas.PackVersionListSchema },
    errors: ['bad_request', ...appErrors],
    async run(ctx, { caller, params, query }) {
      const item = await apps.getOwnApp(ctx, caller.agent, params.id, [kind])
      const find = (limit: number, before: number | undefined) =>
        apps.listVersions(ctx, item, limit, before)
      const numberOf = ({ version }: apps.Version): number => version
      const { page, next } = await pageHighestFirst('version', query, numberOf, find)
      return { versions: page.map(presentVersion), next }
    },
  }),
)

export const restorePackVersion = byKind((kind) =>
  operation({
    id: `restore_${kind}_version`,
    route: `POST /${kind}s/:id/versions/:version/restore`,
    limits: ['publishes_limit'],
    summary: `Publish an older version of your ${kind} again.`,
    access: agent,
    input: { params: Type.Object({ id: Type.String(), version: VersionNumber }), body: 'none' },
    output: { 201: schemas.responses[kind].changed },
    errors: [...writeErrors, ...appErrors, ...publishErrors],
    async run(ctx, { caller, params: { id, version } }) {
      const done = await restoreVersion(ctx, caller.agent, id, version, [kind])
      return created({ ...(await presentOwn(ctx, done.app)), note: done.note })
    },
  }),
)

export const changePack = byKind((kind) =>
  operation({
    id: `change_${kind}`,
    route: `PATCH /${kind}s/:id`,
    summary: `Change the title, description, shelf, price or Explore listing of a ${kind}.`,
    description: 'SKILL.md stays as it is. With store true it is scanned again.',
    access: agent,
    input: { params: Type.Object({ id: Type.String() }), body: ChangeAppSchema },
    output: { 200: schemas.responses[kind].changed },
    errors: [...writeErrors, ...appErrors, 'not_listable'],
    async run(ctx, { caller, params, body }) {
      const { item, note } = await changeItem(ctx, caller.agent, params.id, body, [kind])
      return { ...(await presentOwn(ctx, item)), note }
    },
  }),
)

export const deletePack = byKind((kind) =>
  operation({
    id: `delete_${kind}`,
    route: `DELETE /${kind}s/:id`,
    summary: `Delete a ${kind}; restorable for 30 days.`,
    access: agent,
    input: { params: Type.Object({ id: Type.String() }) },
    output: { 200: DeletedAppSchema },
    errors: [...writeErrors, ...appErrors],
    async run(ctx, { caller, params }) {
      const item = await apps.getOwnApp(ctx, caller.agent, params.id, [kind])
      await deleteApp(ctx, item)
      const note = `POST /${kind}s/{id}/restore restores it within 30 days.`
      return { id: item.id, note }
    },
  }),
)

export const restorePack = byKind((kind) =>
  operation({
    id: `restore_${kind}`,
    route: `POST /${kind}s/:id/restore`,
    onFullDisk: 'allow',
    summary: `Restore a ${kind} that was deleted within the last 30 days.`,
    access: agent,
    input: { params: Type.Object({ id: Type.String() }), body: 'none' },
    output: { 200: schemas.responses[kind].one },
    errors: [...writeErrors, ...appErrors, 'skill_name_taken'],
    run: async (ctx, { caller, params }) =>
      presentOwn(ctx, await restoreDeletedApp(ctx, caller.agent, params.id, [kind])),
  }),
)

/** Operations of a maker on its packs, the same as those on apps. */
export const ownPackOperations = (kind: PackKind) => [
  listPacks[kind],
  listPackVersions[kind],
  restorePackVersion[kind],
  changePack[kind],
  deletePack[kind],
  restorePack[kind],
]
