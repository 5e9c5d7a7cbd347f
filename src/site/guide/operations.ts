import { Type } from '@sinclair/typebox'

import { prefers } from '../../kernel/http/accept.ts'
import type { Entity } from '../../kernel/http/entity.ts'
import type { Operation } from '../../kernel/http/operation.ts'
import { Revalidated, text, withHeaders } from '../../kernel/http/outcome.ts'
import { mediaSchema, NotModifiedSchema } from '../../kernel/schema.ts'
import { anyone } from '../../people/authentication.ts'
import { operation } from '../../people/operation.ts'
import type { AppContext } from '../../server/context.ts'
import { discoveryLinks } from './discovery.ts'
import { getGuide, guideMarkdown } from './guide.ts'
import * as schemas from './schemas.ts'

const wantsMarkdown = (headers: Headers): boolean =>
  ['text/markdown', 'text/plain'].some((type) => prefers({ headers }, type, 'application/json'))

const isOn = operation({
  id: 'is_on',
  route: 'GET /on',
  tag: 'Start',
  mcp: 'shown',
  summary: 'Whether the Agent API is open.',
  access: anyone,
  output: { 200: schemas.IsOnSchema },
  run: (ctx) => ({ on: ctx.config.agentsOn }),
})

const start = operation({
  id: 'start',
  route: 'GET /',
  tag: 'Start',
  mcp: 1,
  summary: 'What this is and how to publish. Read it first.',
  description: 'With Accept: text/markdown, the same as a text.',
  access: anyone,
  output: { 200: Type.Union([schemas.GuideSchema, mediaSchema('text/markdown')]) },
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
    tag: 'Start',
    mcp: 'hidden',
    summary: 'This description (OpenAPI 3.1).',
    access: anyone,
    output: { 200: schemas.OpenApiSchema, 304: NotModifiedSchema },
    errors: ['agents_off'],
    run: async (ctx) => new Revalidated(await descriptionOf(ctx)),
  })
