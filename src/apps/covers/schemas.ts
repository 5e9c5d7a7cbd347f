import { type Static, Type } from '@sinclair/typebox'

import { LinkSchema, namedObject, strictObject } from '../../kernel/schema.ts'
import { ImageUrlSchema } from '../icon/schemas.ts'

/** Uploaded screenshots of an app. */
export const screenshotsMax = 5

/** Newest versions that one job captures. Older ones that it missed stay without a cover. */
export const capturedVersionsMax = 5

/** Sizes of covers and screenshots in pixels, 16:10. Tiles show the small one. */
export const largeSize = { width: 960, height: 600 }
export const smallSize = { width: 480, height: 300 }

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
