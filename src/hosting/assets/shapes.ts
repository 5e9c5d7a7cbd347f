import { type Static, Type } from '@sinclair/typebox'

import { Link, oneOf, Time } from '../../core/shape.ts'
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

/** What a page's own list asks for. */
export const Waiting = Type.Object({
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
