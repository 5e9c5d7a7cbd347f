import { type Static, Type } from '@sinclair/typebox'

import {
  audienceMembersMax,
  passwordCharsMax,
  passwordCharsMin,
  shareLinkNameCharsMax,
} from '../../kernel/limits.ts'
import {
  IdSchema,
  lineSchema,
  LinkSchema,
  namedObject,
  notEmpty,
  nullable,
  oneOf,
  strictObject,
  TimeRequestSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import { audiences } from '../kinds.ts'

/** A named link that opens an app to whoever has it. */
const ShareLinkSchema = namedObject('ShareLink', {
  id: IdSchema,
  name: Type.String(),
  created: TimeSchema,
  expiresAt: nullable(TimeSchema),
  used: nullable(TimeSchema),
})
export type ShareLinkBody = Static<typeof ShareLinkSchema>

const AudienceSchema = namedObject('Audience', {
  audience: oneOf(audiences),
  expiresAt: nullable(TimeSchema),
  hasPassword: Type.Boolean(),
  people: Type.Array(Type.String({ description: 'Names of accounts.' })),
  groups: Type.Array(Type.String()),
  links: Type.Array(ShareLinkSchema),
})
export type AudienceBody = Static<typeof AudienceSchema>

/** PATCH /apps/{id}/audience. */
export const ChangeAudienceSchema = strictObject(
  {
    audience: Type.Optional(oneOf(audiences)),
    password: Type.Optional(
      Type.String({
        minLength: passwordCharsMin,
        maxLength: passwordCharsMax,
        writeOnly: true,
        description: 'The password of the app, with audience "password".',
      }),
    ),
    people: Type.Optional(
      Type.Array(Type.String({ maxLength: 120 }), {
        maxItems: audienceMembersMax,
        description: 'Names of accounts here, with audience "people". Replaces the list.',
      }),
    ),
    groups: Type.Optional(
      Type.Array(Type.String({ maxLength: 100 }), {
        maxItems: audienceMembersMax,
        description: 'Names of groups, with audience "people". Replaces the list.',
      }),
    ),
    expiresAt: Type.Optional(nullable(TimeRequestSchema)),
  },
  { ...notEmpty, examples: [{ audience: 'people', people: ['olga'] }] },
)
export type ChangeAudienceRequest = Static<typeof ChangeAudienceSchema>

export const AudienceResponseSchema = Type.Object({ audience: AudienceSchema })
export const ChangedAudienceSchema = Type.Object({ audience: AudienceSchema, note: Type.String() })

/** POST /apps/{id}/links. */
export const CreateLinkSchema = strictObject(
  {
    name: lineSchema(shareLinkNameCharsMax, {
      minLength: 1,
      description: 'Whom the link is for. Visitors do not see it.',
    }),
    expiresAt: Type.Optional(TimeRequestSchema),
  },
  { examples: [{ name: 'The board' }] },
)

export const CreatedLinkSchema = Type.Object({
  link: ShareLinkSchema,
  url: Type.String({ ...LinkSchema, description: 'Shown once.' }),
})
export const RevokedLinkSchema = Type.Object({ id: IdSchema, note: Type.String() })

/** POST /apps/{id}/open. */
export const OpenAppSchema = strictObject({
  password: Type.String({ maxLength: 1_000, writeOnly: true }),
})
export const OpenedAppSchema = Type.Object({ link: LinkSchema })
