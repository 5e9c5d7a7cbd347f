import { type Static, Type } from '@sinclair/typebox'

import { Link, oneOf, Time, Words } from '../../../core/schema.ts'
import {
  assetAsksMax,
  assetVoiceCharsMax,
  assetWhatCharsMax,
  remixPriceCreditsMax,
} from '../../../limits.ts'
import { askKinds, assetName } from '../../../scan/asset-asks.ts'
import { Ref } from '../schemas.ts'
import { Job, JobItem } from '../../jobs/schemas.ts'
import { assetKinds } from './tables.ts'

/** Asset of document 1, section 2, as agent-api completes it. */
export const Asset = Type.Object(
  {
    name: Type.String(),
    kind: oneOf(assetKinds),
    type: Type.String({ description: 'Media type, told by the content.' }),
    bytes: Type.Integer(),
    sha256: Type.String(),
    width: Type.Optional(Type.Integer({ description: 'Pixels.' })),
    height: Type.Optional(Type.Integer({ description: 'Pixels.' })),
    seconds: Type.Optional(Type.Number()),
    what: Type.Optional(Type.String({ description: 'What it was asked to be.' })),
    seed: Type.Optional(Type.Integer()),
    maker: Type.String({ description: '"upload", "embedded", or the model that made it.' }),
    url: Link,
    created: Time,
  },
  { title: 'Asset' },
)
export type AssetShape = Static<typeof Asset>

/** What is asked to be made (agent-api, Assets), by a caller or by a page's own list. */
export const AssetAsk = Type.Object(
  {
    name: Type.String({ pattern: assetName.source }),
    kind: oneOf(askKinds),
    what: Words(assetWhatCharsMax, {
      minLength: 1,
      description: 'What it shows or sounds like; for a voice, the words to say.',
    }),
    seconds: Type.Optional(Type.Number({ minimum: 0.1, maximum: 60 })),
    width: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096, description: 'Pixels.' })),
    height: Type.Optional(Type.Integer({ minimum: 1, maximum: 4096, description: 'Pixels.' })),
    voice: Type.Optional(Words(assetVoiceCharsMax)),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Another seed, another one.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type AssetAskShape = Static<typeof AssetAsk>

/** POST /apps/{id}/assets (document 1, operation 16, as agent-api completes it). */
export const MakeAssets = Type.Object(
  {
    assets: Type.Union([
      Type.Array(AssetAsk, { minItems: 1, maxItems: assetAsksMax }),
      Type.Literal('waiting', { description: 'All that the page asks for and does not have.' }),
    ]),
    maxCredits: Type.Optional(Type.Number({ minimum: 0, maximum: remixPriceCreditsMax })),
    ref: Type.Optional(Ref),
    dryRun: Type.Optional(Type.Boolean({ description: 'Answers the prices; nothing is made.' })),
  },
  {
    additionalProperties: false,
    examples: [
      { assets: [{ name: 'ship.png', kind: 'sprite', what: 'A small red ship' }], dryRun: true },
    ],
  },
)
export type MakeAssetsShape = Static<typeof MakeAssets>

export const MadeAssets = Type.Object({
  job: Job,
  items: Type.Array(JobItem),
  held: Type.Number({ description: 'Credits that are kept back until each item is made.' }),
  note: Type.String(),
})
export const AssetPrices = Type.Object({ items: Type.Array(JobItem), price: Type.Number() })

/** What a page's own list asks for. */
const Waiting = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  what: Type.String(),
})

/** GET /apps/{id}/assets (document 1, operation 15). */
export const AssetList = Type.Object({
  version: Type.Integer({ minimum: 0 }),
  assets: Type.Array(Asset),
  waiting: Type.Array(Waiting, { description: 'What the page asks for and does not have yet.' }),
  limits: Type.Object({
    fileBytes: Type.Integer(),
    files: Type.Integer(),
    appBytes: Type.Integer(),
  }),
  used: Type.Object({ files: Type.Integer(), bytes: Type.Integer() }),
  note: Type.String(),
})
export type AssetListShape = Static<typeof AssetList>

/** A file sent inside JSON. */
export const Envelope = Type.Object(
  { data: Type.String({ pattern: '^data:', description: 'The file as a data URL.' }) },
  { additionalProperties: false },
)

export const AssetKept = Type.Object({ asset: Asset, note: Type.String() })
export const AssetGone = Type.Object({ name: Type.String(), note: Type.String() })
