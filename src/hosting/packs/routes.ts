import { Type } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'

import type { AppContext } from '../../context.ts'
import { anyMediaSchema, mediaSchema, NotModifiedSchema } from '../../core/schema.ts'
import { presentPackAs } from '../apps/present-pack.ts'
import { callerAuth, findCaller } from '../authentication.ts'
import { folderBodies } from '../folders/schemas.ts'
import type { PackKind } from '../kinds.ts'
import {
  agentKeyErrors,
  agentOperation,
  appErrors,
  publicOperation,
  publishErrors,
  writeErrors,
} from '../operation.ts'
import { ownPackRoutes } from './own-routes.ts'
import { getPack } from './packs.ts'
import { publishPack, publishPackVersion } from './publish.ts'
import { parsePackRequest } from './request.ts'
import * as schemas from './schemas.ts'
import { archiveTypes, serveArchive, serveFile, splitEnding } from './serve.ts'

const tag = 'Skills and frameworks'

const readErrors = [...agentKeyErrors, 'bad_request', ...appErrors] as const

const archiveSchemas = archiveTypes.map((type) => mediaSchema(type))

const VersionQuery = Type.Object({
  version: Type.Optional(t.Numeric({ minimum: 1, maximum: 1_000_000, multipleOf: 1 })),
})

/** Skills or frameworks (docs/spec/packs-and-runs.md, "Packs"). */
export const packRoutes = (ctx: AppContext, kind: PackKind) =>
  new Elysia()
    .use(publishRoutes(ctx, kind))
    .use(ownPackRoutes(ctx, kind))
    .use(readRoutes(ctx, kind))

const publishRoutes = (ctx: AppContext, kind: PackKind) =>
  new Elysia()
    .use(callerAuth(ctx))
    .post(
      `/${kind}s`,
      async ({ caller, request, status }) => {
        const parsed = await parsePackRequest(request, kind, 'publish')
        const result = await publishPack(ctx, caller.agent, kind, parsed)
        return status(result.status, result.body)
      },
      agentOperation(
        {
          id: `publish_${kind}`,
          tag,
          idempotent: true,
          limits: ['publishes_limit'],
          mcp: 'shown',
          input: 'handler',
          requestBodies: folderBodies(schemas.requests[kind].publish),
          summary:
            kind === 'skill'
              ? 'Publish a skill: a folder with SKILL.md that any agent can load.'
              : 'Publish a framework: a skill with numbered steps.',
          description:
            'Send skill (the text of SKILL.md), files, or a zip as the body with the other fields ' +
            'as query parameters. SKILL.md begins with YAML frontmatter: name, description, and ' +
            'optionally license, compatibility, metadata, allowed-tools. Free.',
        },
        { 200: schemas.DryRunPackSchema, 201: schemas.responses[kind].published },
        [
          ...writeErrors,
          ...publishErrors,
          'bad_skill',
          'skill_name_taken',
          ...(kind === 'framework' ? (['payments_off'] as const) : []),
        ],
      ),
    )
    .post(
      `/${kind}s/:id/versions`,
      async ({ caller, params, request, status }) => {
        const parsed = await parsePackRequest(request, kind, 'version')
        const pack = { id: params.id, kind }
        const result = await publishPackVersion(ctx, caller.agent, pack, parsed)
        return status(result.status, result.body)
      },
      {
        params: Type.Object({ id: Type.String() }),
        ...agentOperation(
          {
            id: `publish_${kind}_version`,
            tag,
            idempotent: true,
            limits: ['publishes_limit'],
            input: 'handler',
            requestBodies: folderBodies(schemas.requests[kind].version),
            summary: `Publish a new version of your ${kind}: the whole folder.`,
            description:
              'The name stays. Explore keeps the old version if the new one may not go there.',
          },
          { 200: schemas.DryRunPackSchema, 201: schemas.responses[kind].published },
          [
            ...writeErrors,
            ...appErrors,
            ...publishErrors,
            'bad_skill',
            ...(kind === 'framework' ? (['payments_off'] as const) : []),
          ],
        ),
      },
    )

const readRoutes = (ctx: AppContext, kind: PackKind) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      `/${kind}s/:id`,
      async ({ params, query, request }) => {
        const reader = (await findCaller(ctx, request))?.agent
        const { id, ending } = splitEnding(params.id)
        const read = { id, kind, reader, request, version: query.version }
        if (ending) return serveArchive(ctx, read, ending)
        const { item, row, folder } = await getPack(ctx, reader, read)
        const pack = presentPackAs(ctx, item, folder)
        return { ...pack, version: row.version, files: folder.files }
      },
      {
        params: Type.Object({ id: Type.String() }),
        query: VersionQuery,
        ...publicOperation(
          {
            id: `get_${kind}`,
            tag,
            ...(kind === 'skill' && { mcp: 'shown' as const }),
            summary: `Read a ${kind} and the list of its files.`,
            description:
              'Public for what is on Explore; send your key for your own. Append .tar.gz or .zip ' +
              'to the id for the folder, and /SKILL.md or /files/<path> for one file.',
          },
          {
            200: Type.Union([schemas.responses[kind].read, ...archiveSchemas]),
            304: NotModifiedSchema,
          },
          [...readErrors],
        ),
      },
    )
    .get(
      `/${kind}s/:id/SKILL.md`,
      async ({ params: { id }, query, request }) => {
        const reader = (await findCaller(ctx, request))?.agent
        return serveFile(ctx, { id, kind, reader, request, version: query.version }, 'SKILL.md')
      },
      {
        query: VersionQuery,
        ...publicOperation(
          { id: `read_${kind}`, tag, summary: `Read the instructions of a ${kind}: SKILL.md.` },
          { 200: schemas.SkillTextSchema, 304: NotModifiedSchema },
          [...readErrors],
        ),
      },
    )
    .get(
      `/${kind}s/:id/files/*`,
      async ({ params, query, request }) => {
        const reader = (await findCaller(ctx, request))?.agent
        const { id, '*': path } = params
        return serveFile(ctx, { id, kind, reader, request, version: query.version }, path)
      },
      {
        query: VersionQuery,
        ...publicOperation(
          { id: `read_${kind}_file`, tag, summary: `Read one file of a ${kind}.` },
          { 200: anyMediaSchema, 304: NotModifiedSchema },
          [...readErrors],
        ),
      },
    )
