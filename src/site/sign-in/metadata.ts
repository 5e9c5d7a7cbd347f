import { Elysia } from 'elysia'

import { resourceMetadata, serverMetadata } from '../../apps/connectors/metadata.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { urlsFor } from '../../kernel/http/host.ts'
import { pathOf } from '../../kernel/http/request-context.ts'
import { checkAgentsOn } from '../../people/authentication.ts'

/** Clients of every origin read the metadata, which names the host that they requested. */
const json = (value: unknown): Response =>
  Response.json(value, { headers: { 'access-control-allow-origin': '*', vary: 'host' } })

/** The metadata by which programs find the sign-in (RFC 8414, RFC 9728). */
export const metadataRoutes = (ctx: AppContext) => {
  const readResource = ({ request }: { request: Request }): Response => {
    const metadata = resourceMetadata(urlsFor(ctx, request.headers), pathOf(request.url))
    if (metadata) return json(metadata)
    throw new ApiError('not_found', { what: 'resource' })
  }
  return new Elysia()
    .onTransform(() => checkAgentsOn(ctx))
    .get('/.well-known/oauth-authorization-server', ({ request }) =>
      json(serverMetadata(urlsFor(ctx, request.headers))),
    )
    .get('/.well-known/oauth-protected-resource', readResource)
    .get('/.well-known/oauth-protected-resource/*', readResource)
}
