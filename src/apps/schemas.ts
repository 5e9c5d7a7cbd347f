import { type Static, Type } from '@sinclair/typebox'

import {
  aiMarginPercentMax,
  buildPromptCharsMax,
  descriptionCharsMax,
  folderFilesMax,
  remixPriceCreditsMax,
  titleCharsMax,
} from '../kernel/limits.ts'
import {
  exactlyOne,
  IdSchema,
  lineSchema,
  LinkSchema,
  namedObject,
  notEmpty,
  nullable,
  oneOf,
  strictObject,
  textSchema,
  TimeSchema,
} from '../kernel/schema.ts'
import { CoverSchema } from './covers/schemas.ts'
import { FileFieldSchema } from './folders/folder.ts'
import { sharePercentMax, stepDoneCharsMax, stepTitleCharsMax } from './folders/limits.ts'
import { type Audience, audiences, shelfNames } from './kinds.ts'
import { useNames, UseSchema } from './uses/uses.ts'

/** Origin of a remix, with the names at that time. */
export const OriginSchema = Type.Object({
  id: IdSchema,
  title: Type.String(),
  maker: Type.String(),
})
export type OriginBody = Static<typeof OriginSchema>

export const RatingSchema = Type.Object({ stars: nullable(Type.Number()), count: Type.Integer() })

/** App (document 1, section 2). */
export const AppSchema = namedObject('App', {
  id: IdSchema,
  link: LinkSchema,
  kind: oneOf(['app', 'game']),
  title: Type.String(),
  description: Type.String(),
  shelf: oneOf(shelfNames),
  icon: nullable(Type.String()),
  cover: nullable(CoverSchema),
  version: Type.Integer({ minimum: 0 }),
  store: Type.Boolean(),
  listed: oneOf(['off', 'pending', 'on', 'taken_down']),
  remix: oneOf(['off', 'free', 'price']),
  priceRemix: nullable(Type.Integer()),
  comments: Type.Boolean({ description: 'Others may comment on it.' }),
  audience: oneOf(audiences),
  expiresAt: nullable(TimeSchema),
  live: Type.Boolean({ description: 'Open pages take a new version at once.' }),
  embeds: Type.Boolean({ description: 'Other sites may show it in a frame.' }),
  aiMargin: Type.Integer({ description: 'Percent that you add to what players pay for AI.' }),
  remixOf: nullable(OriginSchema),
  remixes: Type.Integer(),
  opens: Type.Integer(),
  rating: RatingSchema,
  bytes: Type.Integer(),
  state: oneOf(['live', 'building', 'taken_down', 'closed']),
  held: Type.Optional(
    Type.Object(
      { reason: Type.String(), at: TimeSchema },
      {
        description:
          'In quarantine: its link shows a warning, and Explore hides it until a review.',
      },
    ),
  ),
  created: TimeSchema,
  updated: TimeSchema,
})
export type AppBody = Static<typeof AppSchema>

const about = {
  title: Type.Optional(lineSchema(titleCharsMax, { minLength: 1 })),
  description: Type.Optional(textSchema(descriptionCharsMax)),
  shelf: Type.Optional(oneOf(shelfNames)),
  store: Type.Optional(Type.Boolean({ description: 'true: list on Explore; false: remove.' })),
  remix: Type.Optional(oneOf(['off', 'free', 'price'])),
  priceRemix: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: remixPriceCreditsMax,
      description: 'Price of a remix in credits, with remix "price".',
    }),
  ),
}

/** Idempotency key of a request in its body. */
export const RefSchema = Type.String({
  pattern: '^[A-Za-z0-9_-]{8,64}$',
  description: 'Idempotency key: the same ref never runs a request twice.',
})

/** Highest price that the caller accepts (document 1, section 2). */
export const MaxCreditsSchema = Type.Integer({
  minimum: 0,
  maximum: remixPriceCreditsMax,
  description: 'Highest price you accept.',
})

/** The sources of a version, of which a request has one. */
const oneSource = exactlyOne('html', 'files', 'prompt')

/** Source of a version: a page, or a prompt for the builder. */
export const sourceProperties = {
  html: Type.Optional(Type.String({ minLength: 1, description: 'A complete page, at most 4 MB.' })),
  files: Type.Optional(
    Type.Array(FileFieldSchema, {
      minItems: 1,
      maxItems: folderFilesMax,
      description:
        'A folder with one page, instead of html, such as the dist of a build. Each file has text ' +
        'or base64. All files stay files and load by their paths, as on a static host.',
    }),
  ),
  prompt: Type.Optional(
    textSchema(buildPromptCharsMax, {
      minLength: 1,
      description: 'Description of the app to build, or of the change.',
    }),
  ),
  uses: Type.Optional(
    Type.Array(UseSchema, {
      uniqueItems: true,
      maxItems: useNames.length,
      description:
        'What the page uses of `service` that its text does not name. Later versions keep it, until one sends others. Not with prompt.',
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'true: only scan and price; nothing is stored.' }),
  ),
  maxCredits: Type.Optional(MaxCreditsSchema),
  ref: Type.Optional(RefSchema),
}

/** The terms of a new item: a price needs them, and the reverse. */
export const newTerms = {
  dependentSchemas: {
    priceRemix: { required: ['remix'], properties: { remix: { enum: ['price'] } } },
    remix: {
      anyOf: [
        { required: ['priceRemix'], properties: { priceRemix: {} } },
        { properties: { remix: { enum: ['off', 'free'] } } },
      ],
    },
  },
}

/** POST /apps (document 1, operation 9). */
export const PublishAppSchema = strictObject(
  {
    ...sourceProperties,
    kind: Type.Optional(oneOf(['app', 'game'])),
    ...about,
    audience: Type.Optional(
      Type.Unsafe<Exclude<Audience, 'password'>>(oneOf(['public', 'link', 'people', 'instance'])),
    ),
  },
  {
    described: { ...oneSource.described, ...newTerms },
    examples: [{ title: 'Hello', html: '<!doctype html><title>Hello</title><h1>Hello</h1>' }],
  },
)
export type PublishAppRequest = Static<typeof PublishAppSchema>

/** PATCH /apps/{id} (document 1, operation 11). */
export const ChangeAppSchema = strictObject(
  {
    ...about,
    comments: Type.Optional(Type.Boolean({ description: 'false: turns comments off.' })),
    live: Type.Optional(
      Type.Boolean({
        description: 'true: open pages take a new version at once; false: they offer it.',
      }),
    ),
    embeds: Type.Optional(Type.Boolean({ description: 'false: no other site may show it.' })),
    aiMargin: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: aiMarginPercentMax,
        description:
          'Percent that you add to what players pay for AI models in it. You earn it. They see it before they agree, and agree again to a higher one.',
      }),
    ),
  },
  {
    described: {
      ...notEmpty.described,
      dependentSchemas: { priceRemix: { properties: { remix: { enum: ['price'] } } } },
    },
    examples: [{ title: 'Hello again', store: true }],
  },
)
export type ChangeAppRequest = Static<typeof ChangeAppSchema>

export const FindingSchema = namedObject('Finding', {
  code: Type.String(),
  severity: oneOf(['block', 'unlist', 'warn']),
  file: Type.Optional(Type.String({ description: 'Path in a skill or framework.' })),
  line: Type.Integer(),
  excerpt: Type.String(),
  help: Type.String(),
})

/** Scan result of a page that may be hosted. */
export const ScanResultSchema = namedObject('Scan', {
  verdict: oneOf(['clean', 'warn', 'block']),
  warnings: Type.Array(FindingSchema),
  uses: Type.Optional(
    Type.Array(UseSchema, {
      description: 'What the page uses of `service`. Players agree to it first.',
    }),
  ),
})
export type ScanResult = Static<typeof ScanResultSchema>

export const PublishAppResponseSchema = Type.Object({
  app: AppSchema,
  scan: ScanResultSchema,
  note: Type.String(),
})
export const AppResponseSchema = Type.Object({ app: AppSchema })
/** An app for the one who opens it, who may not be its maker. */
export const PlayedAppSchema = Type.Object({
  app: Type.Object({
    id: IdSchema,
    title: Type.String(),
    description: Type.String(),
    version: Type.Integer(),
    link: LinkSchema,
  }),
})
export const ChangeAppResponseSchema = Type.Object({ app: AppSchema, note: Type.String() })
export const AppListSchema = Type.Object({
  apps: Type.Array(AppSchema),
  next: nullable(Type.String()),
})
export const DeletedAppSchema = Type.Object({ id: IdSchema, note: Type.String() })

const { kind: _, ...itemFields } = AppSchema.properties

const packFields = {
  ...itemFields,
  name: Type.String({ description: 'Name in SKILL.md, unique among your packs.' }),
  license: Type.Optional(Type.String()),
  compatibility: Type.Optional(Type.String()),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  allowedTools: Type.Optional(Type.String()),
}

/** A skill (docs/spec/packs-and-runs.md, "Packs"). */
export const SkillSchema = namedObject('Skill', { ...packFields, kind: Type.Literal('skill') })
type SkillBody = Static<typeof SkillSchema>

export const StepSchema = namedObject(
  'Step',
  {
    id: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }),
    title: lineSchema(stepTitleCharsMax, { minLength: 1 }),
    done: lineSchema(stepDoneCharsMax, {
      minLength: 1,
      description: 'How one knows that the step is done.',
    }),
  },
  { additionalProperties: false },
)

export const ShareSchema = namedObject(
  'Share',
  {
    percent: Type.Number({ minimum: 0, maximum: sharePercentMax }),
    of: oneOf(['profit', 'revenue']),
    payTo: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'Address of the maker.' }),
    network: Type.String({ maxLength: 60, description: 'CAIP-2, such as eip155:8453.' }),
    asset: Type.String({ maxLength: 60, description: 'Contract of the token, or USDC.' }),
  },
  { additionalProperties: false },
)

/** A framework: a pack with steps. */
export const FrameworkSchema = namedObject('Framework', {
  ...packFields,
  kind: Type.Literal('framework'),
  steps: Type.Array(StepSchema),
  share: Type.Optional(ShareSchema),
})
type FrameworkBody = Static<typeof FrameworkSchema>

/** A pack under the name of its kind. */
export type PackBody = { skill: SkillBody } | { framework: FrameworkBody }
