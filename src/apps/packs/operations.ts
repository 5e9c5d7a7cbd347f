import { Type } from '@sinclair/typebox'

import { pageHighestFirst, pageNewestFirst } from '../../kernel/cursor.ts'
import { ListQuery } from '../../kernel/http/list-query.ts'
import { created, Replay } from '../../kernel/http/outcome.ts'
import { anyMediaSchema, mediaSchema, NotModifiedSchema } from '../../kernel/schema.ts'
import { agent, agentKeyErrors, reader } from '../../people/authentication.ts'
import { appErrors, operationsOf, publishErrors, writeErrors } from '../../people/operation.ts'
import * as apps from '../apps.ts'
import { deleteApp, restoreDeletedApp } from '../deletion.ts'
import { folderBodies } from '../folders/folder.ts'
import { skillFile } from '../folders/read-pack.ts'
import { type PackKind, packKinds } from '../kinds.ts'
import { presentPackAs } from '../present.ts'
import { changeItem } from '../publish.ts'
import { ChangeAppSchema, DeletedAppSchema } from '../schemas.ts'
import { VersionNumber } from '../versions/schemas.ts'
import { presentVersion, restoreVersion } from '../versions/versions.ts'
import {
  archiveTypes,
  getPack,
  presentOwn,
  readArchive,
  readPackFile,
  splitEnding,
} from './packs.ts'
import { packReader, publishPack, publishPackVersion } from './publish.ts'
import * as schemas from './publish.ts'

const operation = operationsOf('Skills and frameworks')

/** Declares an operation for each kind of pack. */
const byKind = <Declared>(declare: (kind: PackKind) => Declared) => ({
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
const ownPackOperations = (kind: PackKind) => [
  listPacks[kind],
  listPackVersions[kind],
  restorePackVersion[kind],
  changePack[kind],
  deletePack[kind],
  restorePack[kind],
]

const readErrors = [...agentKeyErrors, 'bad_request', ...appErrors] as const

const archiveSchemas = archiveTypes.map((type) => mediaSchema(type))

const VersionQuery = Type.Object({ version: Type.Optional(VersionNumber) })

/** Publishes a new pack. */
export const publishPackOf = byKind((kind) =>
  operation({
    id: `publish_${kind}`,
    route: `POST /${kind}s`,
    idempotent: true,
    limits: ['publishes_limit'],
    mcp: 'shown',
    summary:
      kind === 'skill'
        ? 'Publish a skill: a folder with SKILL.md that any agent can load.'
        : 'Publish a framework: a skill with numbered steps.',
    description:
      'Send skill (the text of SKILL.md), files, or a zip as the body with the other fields ' +
      'as query parameters. SKILL.md begins with YAML frontmatter: name, description, and ' +
      'optionally license, compatibility, metadata, allowed-tools. Free.',
    access: agent,
    input: {
      read: packReader(kind, 'publish'),
      bodies: folderBodies(schemas.requests[kind].publish),
    },
    output: { 200: schemas.DryRunPackSchema, 201: schemas.responses[kind].published },
    errors: [
      ...writeErrors,
      ...publishErrors,
      'bad_skill',
      'skill_name_taken',
      ...(kind === 'framework' ? (['payments_off'] as const) : []),
    ],
    run: async (ctx, { caller, body }) =>
      new Replay(await publishPack(ctx, caller.agent, kind, body)),
  }),
)

/** Publishes the next version of a pack. */
export const publishVersionOf = byKind((kind) =>
  operation({
    id: `publish_${kind}_version`,
    route: `POST /${kind}s/:id/versions`,
    idempotent: true,
    limits: ['publishes_limit'],
    summary: `Publish a new version of your ${kind}: the whole folder.`,
    description: 'The name stays. Explore keeps the old version if the new one may not go there.',
    access: agent,
    input: {
      params: Type.Object({ id: Type.String() }),
      read: packReader(kind, 'version'),
      bodies: folderBodies(schemas.requests[kind].version),
    },
    output: { 200: schemas.DryRunPackSchema, 201: schemas.responses[kind].published },
    errors: [
      ...writeErrors,
      ...appErrors,
      ...publishErrors,
      'bad_skill',
      ...(kind === 'framework' ? (['payments_off'] as const) : []),
    ],
    run: async (ctx, { caller, params: { id }, body }) =>
      new Replay(await publishPackVersion(ctx, caller.agent, { id, kind }, body)),
  }),
)

const readOperations = (kind: PackKind) => [
  operation({
    id: `get_${kind}`,
    route: `GET /${kind}s/:id`,
    ...(kind === 'skill' && { mcp: 'shown' as const }),
    summary: `Read a ${kind} and the list of its files.`,
    description:
      'Public for what is on Explore; send your key for your own. Append .tar.gz or .zip ' +
      'to the id for the folder, and /SKILL.md or /files/<path> for one file.',
    access: reader,
    input: { params: Type.Object({ id: Type.String() }), query: VersionQuery },
    output: {
      200: Type.Union([schemas.responses[kind].read, ...archiveSchemas]),
      304: NotModifiedSchema,
    },
    errors: [...readErrors],
    async run(ctx, { params, query, client, caller }) {
      const { id, ending } = splitEnding(params.id)
      const read = { id, kind, reader: caller, client, version: query.version }
      if (ending) return readArchive(ctx, read, ending)
      const { item, row, folder } = await getPack(ctx, caller, read)
      const pack = presentPackAs(ctx, item, folder)
      return { ...pack, version: row.version, files: folder.files }
    },
  }),
  operation({
    id: `read_${kind}`,
    route: `GET /${kind}s/:id/SKILL.md`,
    summary: `Read the instructions of a ${kind}: SKILL.md.`,
    access: reader,
    input: { query: VersionQuery },
    output: { 200: schemas.SkillTextSchema, 304: NotModifiedSchema },
    errors: [...readErrors],
    run: (ctx, { params: { id }, query: { version }, client, caller }) =>
      readPackFile(ctx, { id, kind, reader: caller, client, version }, skillFile),
  }),
  operation({
    id: `read_${kind}_file`,
    route: `GET /${kind}s/:id/files/*`,
    summary: `Read one file of a ${kind}.`,
    access: reader,
    input: { query: VersionQuery },
    output: { 200: anyMediaSchema, 304: NotModifiedSchema },
    errors: [...readErrors],
    run: (ctx, { params: { id, '*': path }, query: { version }, client, caller }) =>
      readPackFile(ctx, { id, kind, reader: caller, client, version }, path),
  }),
]

/** Skills and frameworks (docs/spec/packs-and-runs.md, "Packs"). */
export const packOperations = packKinds.flatMap((kind) => [
  publishPackOf[kind],
  publishVersionOf[kind],
  ...ownPackOperations(kind),
  ...readOperations(kind),
])
