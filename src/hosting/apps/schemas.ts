import { type Static, Type } from '@sinclair/typebox'

import { Id, Link, oneOf, orNull, Time, Words } from '../../core/schema.ts'
import {
  buildPromptCharsMax,
  descriptionCharsMax,
  remixPriceCreditsMax,
  titleCharsMax,
} from '../../limits.ts'
import { shelfNames } from './shelves.ts'

/** What a remix was copied from, by the names of that moment. */
export const Origin = Type.Object({ id: Id, title: Type.String(), maker: Type.String() })
export type OriginShape = Static<typeof Origin>

export const Rating = Type.Object({ stars: orNull(Type.Number()), count: Type.Integer() })

/** App of document 1, section 2. */
export const App = Type.Object(
  {
    id: Id,
    link: Link,
    kind: oneOf(['app', 'game']),
    title: Type.String(),
    description: Type.String(),
    shelf: oneOf(shelfNames),
    icon: orNull(Type.String()),
    version: Type.Integer({ minimum: 0 }),
    store: Type.Boolean(),
    listed: oneOf(['off', 'pending', 'on', 'taken_down']),
    remix: oneOf(['off', 'free', 'price']),
    priceRemix: orNull(Type.Integer()),
    comments: Type.Boolean({ description: 'Whether others may comment on it.' }),
    remixOf: orNull(Origin),
    remixes: Type.Integer(),
    opens: Type.Integer(),
    rating: Rating,
    bytes: Type.Integer(),
    state: oneOf(['live', 'building', 'taken_down', 'closed']),
    held: Type.Optional(
      Type.Object(
        { reason: Type.String(), at: Time },
        {
          description: 'Its link shows a warning, and Explore nothing, until somebody has looked.',
        },
      ),
    ),
    created: Time,
    updated: Time,
  },
  { title: 'App' },
)
export type AppShape = Static<typeof App>

const about = {
  title: Type.Optional(Words(titleCharsMax, { minLength: 1 })),
  description: Type.Optional(Words(descriptionCharsMax)),
  shelf: Type.Optional(oneOf(shelfNames)),
  store: Type.Optional(Type.Boolean({ description: 'true: put on Explore; false: take off.' })),
  remix: Type.Optional(oneOf(['off', 'free', 'price'])),
  priceRemix: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: remixPriceCreditsMax,
      description: 'Credits a remix costs, with remix "price".',
    }),
  ),
}

/** The caller's own name for a request: the same ref again does nothing more. */
export const Ref = Type.String({
  pattern: '^[A-Za-z0-9_-]{8,64}$',
  description: 'Your own name for this request: sent again, it does nothing more.',
})

/** What one agrees to pay, as document 1 has it beside a price. */
export const MaxCredits = Type.Integer({
  minimum: 0,
  maximum: remixPriceCreditsMax,
  description: 'The most you agree to pay.',
})

/** What a version is made from: a page, or a prompt for the builder. */
export const source = {
  html: Type.Optional(Type.String({ minLength: 1, description: 'A whole page, at most 4 MB.' })),
  prompt: Type.Optional(
    Words(buildPromptCharsMax, {
      minLength: 1,
      description: 'What the service is to build, or to change.',
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'true: only scan and price; nothing is kept.' }),
  ),
  maxCredits: Type.Optional(MaxCredits),
  ref: Type.Optional(Ref),
}

/** POST /apps (document 1, operation 9). */
export const NewApp = Type.Object(
  { ...source, kind: Type.Optional(oneOf(['app', 'game'])), ...about },
  {
    additionalProperties: false,
    examples: [{ title: 'Hello', html: '<!doctype html><title>Hello</title><h1>Hello</h1>' }],
  },
)
export type NewAppShape = Static<typeof NewApp>

/** PATCH /apps/{id} (document 1, operation 11). */
export const AppChange = Type.Object(
  {
    ...about,
    comments: Type.Optional(Type.Boolean({ description: 'false: nobody may comment on it.' })),
  },
  {
    additionalProperties: false,
    examples: [{ title: 'Hello again', store: true }],
  },
)
export type AppChangeShape = Static<typeof AppChange>

export const Finding = Type.Object(
  {
    code: Type.String(),
    severity: oneOf(['block', 'unlist', 'warn']),
    line: Type.Integer(),
    excerpt: Type.String(),
    help: Type.String(),
  },
  { title: 'Finding' },
)

/** What the safety check said of a page that may be hosted. */
export const ScanResult = Type.Object(
  {
    verdict: oneOf(['clean', 'warn', 'block']),
    warnings: Type.Array(Finding),
  },
  { title: 'Scan' },
)
export type ScanResultShape = Static<typeof ScanResult>

export const Published = Type.Object({ app: App, scan: ScanResult, note: Type.String() })
export const AppAnswer = Type.Object({ app: App })
export const AppChanged = Type.Object({ app: App, note: Type.String() })
export const AppList = Type.Object({ apps: Type.Array(App), next: orNull(Type.String()) })
export const Gone = Type.Object({ id: Id, note: Type.String() })
