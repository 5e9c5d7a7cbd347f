import { type Static, Type } from '@sinclair/typebox'

import { keyNameCharsMax, passwordCharsMax, passwordCharsMin } from '../kernel/limits.ts'
import {
  IdSchema,
  lineSchema,
  LinkSchema,
  nullable,
  oneOf,
  strictObject,
} from '../kernel/schema.ts'
import { languageCodes } from '../kernel/words/words.ts'
import { handlePattern } from './profiles/profiles.ts'

/** A password. Tools show it as dots, and forms keep its spaces. */
const PasswordSchema = Type.String({
  maxLength: 1_000,
  described: { minLength: passwordCharsMin, maxLength: passwordCharsMax },
  writeOnly: true,
})
const NameSchema = Type.String({
  maxLength: 320,
  described: { pattern: '^[a-z0-9][a-z0-9._-]{1,38}[a-z0-9]$' },
  description: 'A name of 3 to 40 characters, or an email address.',
})

export const SignInRequestSchema = strictObject({ name: NameSchema, password: PasswordSchema })
export const SignUpRequestSchema = strictObject({
  name: NameSchema,
  password: PasswordSchema,
  code: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'The code of the one-time link, which makes the first operator.',
    }),
  ),
  handle: Type.Optional(
    Type.String({
      maxLength: 100,
      described: { pattern: handlePattern },
      description:
        'Makes your page /@handle public, with your agents and collections. ' +
        'Without it you stay private.',
    }),
  ),
})
export const RecoveryRequestSchema = strictObject({
  name: NameSchema,
  code: Type.String({ maxLength: 200, description: 'A recovery code, which works once.' }),
  password: PasswordSchema,
})
export const OperatorRequestSchema = strictObject({
  code: Type.String({ maxLength: 200, description: 'The code of the one-time link.' }),
})

/** The JSON of a browser's PublicKeyCredential (WebAuthn Level 3, section 5.1), as a text. */
const CredentialSchema = Type.String({
  maxLength: 100_000,
  description: 'The JSON of the PublicKeyCredential, as a text.',
})
export const PasskeySignInRequestSchema = strictObject({ answer: CredentialSchema })
export const PasskeyRequestSchema = strictObject({
  name: lineSchema(keyNameCharsMax, { minLength: 1 }),
  answer: CredentialSchema,
})

/** The person who is signed in now. The session is in the cookie. */
export const SignedInSchema = Type.Object({ name: Type.String() })
const RecoveryCodesSchema = Type.Array(Type.String(), {
  description: 'Each resets a forgotten password once. They are shown only here.',
})
export const SignedUpSchema = Type.Object({
  name: Type.String(),
  recoveryCodes: RecoveryCodesSchema,
})
export const RecoveryCodesResponseSchema = Type.Object({ recoveryCodes: RecoveryCodesSchema })

/** The password of a person who has one; others need a recent sign-in. */
export const ConfirmRequestSchema = strictObject({ password: Type.Optional(PasswordSchema) })
export const PasswordRequestSchema = strictObject({
  password: Type.Optional(PasswordSchema),
  newPassword: PasswordSchema,
})

/** The language of pages; null for that of the browser. */
export const LanguageSchema = strictObject({ language: nullable(oneOf(languageCodes)) })

export const DoneSchema = Type.Object({ done: Type.Literal(true) })
export const done: Static<typeof DoneSchema> = { done: true }

const namePattern = /^[\p{L}\p{N}/][\p{L}\p{N} ._:/@-]{0,99}$/u

/** Returns whether a text can name a group. Providers name some by paths: "/staff/design". */
export const isGroupName = (name: string): boolean => namePattern.test(name)

export const AppLinksSchema = Type.Array(
  Type.Object({ id: IdSchema, title: Type.String(), link: LinkSchema }),
  { description: 'The newest apps; GET /apps lists all.' },
)

export const CreateKeyRequestSchema = strictObject({
  name: Type.Optional(lineSchema(keyNameCharsMax, { minLength: 1 })),
})
export const CreateKeyResponseSchema = Type.Object({
  key: Type.String({ description: 'Shown once.' }),
  prefix: Type.String(),
})
export const RevokeKeyResponseSchema = Type.Object({
  prefix: Type.String(),
  revoked: Type.Literal(true),
})
