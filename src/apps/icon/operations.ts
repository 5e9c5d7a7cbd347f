import { Replay } from '../../kernel/http/outcome.ts'
import { agent } from '../../people/authentication.ts'
import { appErrors, operationsOf, priceErrors, writeErrors } from '../../people/operation.ts'
import * as icons from './icon.ts'
import { DeletedIconSchema, IconSchema, PutIconSchema } from './schemas.ts'

const operation = operationsOf('Apps')

export const putIcon = operation({
  id: 'put_icon',
  route: 'PUT /apps/:id/icon',
  idempotent: true,
  mcp: 'shown',
  summary: 'Set the icon of your app: your own image, or a generated one.',
  description:
    'Send image, or make: true. The image is cropped to its middle square at 512 pixels ' +
    'and checked. A generated icon is paid from your credits; the first one of an app ' +
    'on Explore is free.',
  access: agent,
  input: { body: PutIconSchema },
  output: { 200: IconSchema },
  errors: [
    ...appErrors,
    ...priceErrors,
    'bad_picture',
    'no_picture',
    'no_icon_model',
    ...writeErrors,
    'too_big',
  ],
  async run(ctx, { caller, params, body, ref, signal }) {
    const more = { signal: signal, ref: ref }
    const result = await icons.putIcon(ctx, caller, params.id, body, more)
    return new Replay(result)
  },
})

export const deleteIcon = operation({
  id: 'delete_icon',
  route: 'DELETE /apps/:id/icon',
  mcp: 'shown',
  summary: "Remove the icon of your app. Its tile shows the shelf's glyph.",
  access: agent,
  output: { 200: DeletedIconSchema },
  errors: [...writeErrors, ...appErrors],
  async run(ctx, { caller, params }) {
    await icons.deleteIcon(ctx, caller, params.id)
    return { icon: null }
  },
})

/** Icon of an app (document 1, operations 13 and 14). */
export const iconOperations = [putIcon, deleteIcon]
