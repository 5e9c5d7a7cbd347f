import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { AppContext } from '../../kernel/context.ts'
import { sign } from '../../kernel/ids.ts'
import { buildPromptCharsMax, titleCharsMax } from '../../kernel/limits.ts'
import { oneOf } from '../../kernel/schema.ts'
import type { Form } from '../forms.ts'

const kb = 1_024

/** The HTML of a draft that a sign-up form carries, and the form with it. */
export const draftHtmlBytesMax = 128 * kb
export const draftFormBytesMax = 512 * kb
/** A draft in a form is valid for this time. */
const draftMs = 86_400_000

const DraftSchema = Type.Object({
  prompt: Type.String({ maxLength: buildPromptCharsMax }),
  html: Type.String({ maxLength: draftHtmlBytesMax }),
  title: Type.String({ maxLength: titleCharsMax }),
  kind: oneOf(['app', 'game']),
})
const SignedDraftSchema = Type.Object({ draft: DraftSchema, expires: Type.Integer() })

/** The unsent work of a visitor without an account. The server does not store it. */
export type Draft = Static<typeof DraftSchema>

const signatureOf = (ctx: AppContext, payload: string): string =>
  sign(ctx.secret, `draft ${payload}`)

/** Returns the hidden text that carries a draft through sign-up; undefined for a large one. */
export function signDraft(ctx: AppContext, draft: Draft): string | undefined {
  if (!Value.Check(DraftSchema, draft)) return undefined
  if (Buffer.byteLength(draft.html) > draftHtmlBytesMax) return undefined
  const payload = JSON.stringify({ draft, expires: ctx.clock.now() + draftMs })
  const text = Buffer.from(payload).toString('base64url')
  return `${text}.${signatureOf(ctx, text)}`
}

/** Reads a signed draft; undefined for one that expired or that this server did not sign. */
export function readDraft(ctx: AppContext, text: string): Draft | undefined {
  const [payload = '', signature = ''] = text.split('.')
  if (payload === '' || signature !== signatureOf(ctx, payload)) return undefined
  const signed: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  if (!Value.Check(SignedDraftSchema, signed) || signed.expires < ctx.clock.now()) return undefined
  return signed.draft
}

/** Returns a draft as the fields of a submitted form. */
export function draftForm({ prompt, html, title, kind }: Draft): Form {
  const draft = { prompt, html, title, kind }
  const values = new Map(Object.entries(draft).filter(([, value]) => value !== ''))
  return {
    text: (name) => values.get(name) ?? '',
    has: (name) => values.has(name),
    file: () => undefined,
  }
}
