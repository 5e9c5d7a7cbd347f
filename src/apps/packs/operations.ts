import { Type } from '@sinclair/typebox'

import { Replay } from '../../kernel/http/outcome.ts'
import { anyMediaSchema, mediaSchema, NotModifiedSchema } from '../../kernel/schema.ts'
import { agent, agentKeyErrors, reader } from '../../people/authentication.ts'
import { appErrors, operationsOf, publishErrors, writeErrors } from '../../people/operation.ts'
import { skillFile } from '../folders/read-pack.ts'
import { folderBodies } from '../folders/schemas.ts'
import { type PackKind, packKinds } from '../kinds.ts'
import { presentPackAs } from '../present.ts'
import { VersionNumber } from '../versions/schemas.ts'
import { byKind, ownPackOperations } from './own-operations.ts'
import { getPack } from './packs.ts'
import { publishPack, publishPackVersion } from './publish.ts'
import { packReader } from './request.ts'
import * as schemas from './schemas.ts'
import { archiveTypes, readArchive, readPackFile, splitEnding } from './serve.ts'

const operation = operationsOf('Skills and frameworks')

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
