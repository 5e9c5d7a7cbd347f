import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { taking } from '../../../http/validation.ts'
import { ApiError } from '../../../errors.ts'
import { idempotencyKeyOf } from '../../../idempotency/idempotency.ts'
import { publishApp } from '../publish.ts'
import { PublishAppSchema, PublishAppResponseSchema } from '../schemas.ts'
import { withKey } from '../../authentication.ts'
import { appErrors, paymentErrors, publishErrors, idempotencyErrors, writeErrors, operation } from '../../operation.ts'
import { PublishVersionSchema, PublishVersionResponseSchema } from '../versions/schemas.ts'
import * as versions from '../versions/versions.ts'
import { startBuild, startChange } from './builds.ts'
import { Building, DryRun } from './schemas.ts'

const ofBuilds = ['builds_limit', 'no_builder', 'no_studio'] as const
/** What publishing a page, and building one, can refuse. */
const ofMaking = [...writeErrors, ...idempotencyErrors, ...publishErrors, ...paymentErrors, ...ofBuilds] as const

interface Made {
  html?: string
  prompt?: string
  ref?: string
}

/** The request with its ref, from a page or from a prompt. Refuses bad_request for both or none. */
function wayOf<Body extends Made>(body: Body, request: Request) {
  const ref = idempotencyKeyOf(request, body.ref)
  const { html, prompt } = body
  if ((html === undefined) === (prompt === undefined)) {
    throw new ApiError('bad_request', { problem: 'Send exactly one of "html" and "prompt".' })
  }
  const wanted = { ...body, ...(ref && { ref }) }
  return html === undefined ? { wanted } : { page: { ...wanted, html } }
}

/** The two ways in which an app and its versions are made (document 1, operation 9). */
export const buildRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(withKey(ctx))
    .post(
      '/apps',
      async ({ caller, body, request, status }) => {
        const { page, wanted } = wayOf(body, request)
        const answer = await (page ? publishApp(ctx, caller.agent, page) : startBuild(ctx, caller, wanted))
        return status(answer.status, answer.body)
      },
      {
        ...taking(PublishAppSchema),
        ...operation(
          {
            id: 'publish_app',
            tag: 'Apps',
            summary: 'Publish a page (html), live at once, or have one built (prompt).',
            more:
              'Send exactly one of html and prompt. A page of html is scanned, hosted at once as ' +
              'version 1, and free: 201. A prompt starts a build, priced before: 202 with a job; it ' +
              'is charged only if it lands, never more than the price. With dryRun the answer is ' +
              '200 and nothing is kept.',
          },
          { 200: DryRun, 201: PublishAppResponseSchema, 202: Building },
          ['games_off', ...ofMaking],
        ),
      },
    )
    .post(
      '/apps/:id/versions',
      async ({ caller, params, body, request, status }) => {
        const { page, wanted } = wayOf(body, request)
        const answer = await (page
          ? versions.publishVersion(ctx, caller.agent, params.id, page)
          : startChange(ctx, caller, params.id, wanted))
        return status(answer.status, answer.body)
      },
      {
        ...taking(PublishVersionSchema),
        ...operation(
          {
            id: 'publish_version',
            tag: 'Apps',
            summary: 'Publish a new version of your app, from html or from a prompt.',
            more:
              'The link stays; the files of the last version go with it. A prompt says what to ' +
              'change: 202 with a job, as for a new app. Where the app is on Explore and its new ' +
              'page may not be, the old version stays shown; note says why.',
          },
          { 200: DryRun, 201: PublishVersionResponseSchema, 202: Building },
          [...appErrors, ...ofMaking],
        ),
      },
    )
