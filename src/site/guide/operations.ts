import { Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { prefers } from '../../kernel/http/accept.ts'
import type { Entity } from '../../kernel/http/entity.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { Revalidated, text, withHeaders } from '../../kernel/http/outcome.ts'
import { lenientObject, mediaSchema, NotModifiedSchema, nullable } from '../../kernel/schema.ts'
import { anyone } from '../../people/authentication.ts'
import { operationsOf } from '../../people/operation.ts'
import { getGuide, guideMarkdown } from './guide.ts'
import { discoveryLinks } from './routes.ts'

const operation = operationsOf('Start')

const IsOnSchema = Type.Object({ on: Type.Boolean() })

/** Document 1, operation 2. */
const GuideSchema = Type.Object({
  name: Type.String(),
  what: Type.String(),
  urls: Type.Record(Type.String(), Type.String()),
  auth: Type.Object({
    header: Type.String(),
    make: Type.String(),
    open: Type.Array(Type.String()),
  }),
  quickstart: Type.Array(Type.Object({ step: Type.String(), curl: Type.String() })),
  mcp: Type.Array(Type.String()),
  gateway: Type.Array(Type.String()),
  page: Type.Array(Type.String()),
  build: Type.Array(Type.String()),
  explore: Type.Array(Type.String()),
  skills: Type.Array(Type.String()),
  errors: Type.String(),
  limits: Type.Record(Type.String(), nullable(Type.Integer())),
  credits: Type.Object({ start: Type.Number(), perUsd: Type.Integer() }),
})

/** Document 1, operation 3. */
const OpenApiSchema = lenientObject({ openapi: Type.String(), info: lenientObject({}) })

const wantsMarkdown = (headers: Headers): boolean =>
  ['text/markdown', 'text/plain'].some((type) => prefers({ headers }, type, 'application/json'))

const isOn = operation({
  id: 'is_on',
  route: 'GET /on',
  mcp: 'shown',
  summary: 'Get whether the Agent API is open.',
  access: anyone,
  output: { 200: IsOnSchema },
  run: (ctx) => ({ on: ctx.config.agentsOn }),
})

const start = operation({
  id: 'start',
  route: 'GET /',
  mcp: 1,
  summary: 'Read what this server is, and how to publish. Start here.',
  description: 'With Accept: text/markdown, the same as a text.',
  access: anyone,
  output: { 200: Type.Union([GuideSchema, mediaSchema('text/markdown')]) },
  errors: ['agents_off'],
  run(ctx, { headers }) {
    const guide = getGuide(ctx)
    const links = { vary: 'accept', link: discoveryLinks(ctx) }
    return wantsMarkdown(headers)
      ? text('text/markdown', guideMarkdown(guide), links)
      : withHeaders(guide, links)
  },
})

/** Document 1, operations 1 and 2. */
export const startOperations = [isOn, start]

/** Declares the description of the API (document 1, operation 3). */
export const descriptionOperation = (
  descriptionOf: (ctx: AppContext) => Promise<Entity>,
): Operation =>
  operation({
    id: 'get_openapi',
    route: 'GET /openapi.json',
    mcp: 'hidden',
    summary: 'This description (OpenAPI 3.1).',
    access: anyone,
    output: { 200: OpenApiSchema, 304: NotModifiedSchema },
    errors: ['agents_off'],
    run: async (ctx) => new Revalidated(await descriptionOf(ctx)),
  })
