import { type Static, Type } from '@sinclair/typebox'

import {
  assetPromptCharsMax,
  assetVoiceCharsMax,
  generatedAssetsMax,
  remixPriceCreditsMax,
} from '../../kernel/limits.ts'
import {
  base64Pattern,
  lineSchema,
  LinkSchema,
  namedObject,
  oneOf,
  sixDecimals,
  strictObject,
  textSchema,
  TimeSchema,
} from '../../kernel/schema.ts'
import { JobItemSchema, JobSchema } from '../jobs/schemas.ts'
import { assetName, assetRequestKinds } from '../scan/asset-requests.ts'
import { RefSchema } from '../schemas.ts'
import { assetKinds } from './tables.ts'

/** Asset (document 1, section 2; docs/spec/agent-api-decisions.md, "Assets"). */
export const AssetSchema = namedObject('Asset', {
  name: Type.String(),
  kind: oneOf(assetKinds),
  type: Type.String({ description: 'Media type, detected by content.' }),
  bytes: Type.Integer(),
  sha256: Type.String(),
  width: Type.Optional(Type.Integer({ description: 'Pixels.' })),
  height: Type.Optional(Type.Integer({ description: 'Pixels.' })),
  seconds: Type.Optional(Type.Number()),
  what: Type.Optional(Type.String({ description: 'The prompt of a generated asset.' })),
  seed: Type.Optional(Type.Integer()),
  maker: Type.String({ description: '"upload", "embedded", or the model that made it.' }),
  url: LinkSchema,
  created: TimeSchema,
})
export type AssetBody = Static<typeof AssetSchema>

/** An asset to generate, requested by a caller or by a page. */
export const AssetRequestSchema = strictObject({
  name: Type.String({ pattern: assetName.source }),
  kind: oneOf(assetRequestKinds),
  what: textSchema(assetPromptCharsMax, {
    minLength: 1,
    description: 'Content of the asset; for a voice, the words to speak.',
  }),
  seconds: Type.Optional(Type.Number({ minimum: 0.1, maximum: 60 })),
  width: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096, description: 'Pixels.' })),
  height: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096, description: 'Pixels.' })),
  voice: Type.Optional(lineSchema(assetVoiceCharsMax)),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'A different seed gives a different result.',
    }),
  ),
})
export type AssetRequest = Static<typeof AssetRequestSchema>

/** POST /apps/{id}/assets (document 1, operation 16). */
export const GenerateAssetsSchema = strictObject(
  {
    assets: Type.Union([
      Type.Array(AssetRequestSchema, { minItems: 1, maxItems: generatedAssetsMax }),
      Type.Literal('waiting', {
        description: 'All assets that the page requests and does not have.',
      }),
    ]),
    maxCredits: Type.Optional(
      Type.Number({ minimum: 0, maximum: remixPriceCreditsMax, ...sixDecimals }),
    ),
    ref: Type.Optional(RefSchema),
    dryRun: Type.Optional(Type.Boolean({ description: 'Returns the prices without generating.' })),
  },
  {
    examples: [
      { assets: [{ name: 'ship.png', kind: 'sprite', what: 'A small red ship' }], dryRun: true },
    ],
  },
)
export type GenerateAssetsRequest = Static<typeof GenerateAssetsSchema>

export const GenerateAssetsResponseSchema = Type.Object({
  job: JobSchema,
  items: Type.Array(JobItemSchema),
  held: Type.Number({ description: 'Credits that are held until each item is done.' }),
  note: Type.String(),
})
export const AssetPricesSchema = Type.Object({
  items: Type.Array(JobItemSchema),
  price: Type.Number(),
})

/** An asset that a page requests. */
const MissingAssetSchema = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  what: Type.String(),
})

/** GET /apps/{id}/assets (document 1, operation 15). */
export const AssetListSchema = Type.Object({
  version: Type.Integer({ minimum: 0 }),
  assets: Type.Array(AssetSchema),
  waiting: Type.Array(MissingAssetSchema, {
    description: 'Assets that the page requests and does not have yet.',
  }),
  limits: Type.Object({
    fileBytes: Type.Integer(),
    files: Type.Integer(),
    appBytes: Type.Integer(),
  }),
  used: Type.Object({ files: Type.Integer(), bytes: Type.Integer() }),
  note: Type.String(),
})
export type AssetList = Static<typeof AssetListSchema>

/** A file inside JSON. */
export const UploadEnvelopeSchema = strictObject({
  data: Type.String({
    pattern: '^data:',
    description: 'The file as a data URL.',
    described: { pattern: `^data:[^,]*;base64,${base64Pattern}$` },
  }),
})

export const PutAssetResponseSchema = Type.Object({ asset: AssetSchema, note: Type.String() })
export const DeletedAssetSchema = Type.Object({ name: Type.String(), note: Type.String() })
