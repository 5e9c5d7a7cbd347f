import { type Static, Type } from '@sinclair/typebox'

import { LinkSchema, namedObject, strictObject } from '../../kernel/schema.ts'
import { ImageUrlSchema } from '../icon/schemas.ts'
import { screenshotsMax } from './limits.ts'

const sizes = { large: LinkSchema, small: LinkSchema }

/** A cover as WebP in two sizes. */
export const CoverSchema = namedObject(
  'Cover',
  { ...sizes, color: Type.String({ description: 'Mean color, #rrggbb.' }) },
  { description: 'WebP, 16:10: 960 x 600 and 480 x 300 pixels.' },
)
export type CoverBody = Static<typeof CoverSchema>

/** PUT /apps/{id}/cover and PUT /apps/{id}/screenshots/{position}. */
export const PutImageSchema = strictObject(
  { image: ImageUrlSchema },
  {
    examples: [
      {
        image:
          'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAABAQAAAADcWUInAAAACklEQVR42mNwAAAAQgBBhL+OYgAAAABJRU5ErkJggg==',
      },
    ],
  },
)

export const CoverResponseSchema = Type.Object({ cover: CoverSchema })
export const DeletedCoverSchema = Type.Object({ note: Type.String() })

/** A position of a screenshot, as text of the path. */
export const PositionSchema = Type.Object({
  id: Type.String(),
  position: Type.String({ pattern: `^[1-${screenshotsMax}]$`, description: '1 to 5.' }),
})

export const ScreenshotSchema = namedObject('Screenshot', {
  position: Type.Integer({ minimum: 1, maximum: screenshotsMax }),
  ...sizes,
})
export type ScreenshotBody = Static<typeof ScreenshotSchema>
export const ScreenshotListSchema = Type.Object({ screenshots: Type.Array(ScreenshotSchema) })
