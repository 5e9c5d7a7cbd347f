import { asc, eq } from 'drizzle-orm'

import type { AppContext } from '../../server/context.ts'
import { screenshots } from './tables.ts'

/** Returns the screenshots of an app by position. */
export const listRows = ({ db }: AppContext, app: string) =>
  db.read
    .select()
    .from(screenshots)
    .where(eq(screenshots.app, app))
    .orderBy(asc(screenshots.position))

/** Returns the SHA-256 of all files of the screenshots of an app. */
export const listScreenshotFiles = async (ctx: AppContext, app: string): Promise<string[]> =>
  (await listRows(ctx, app)).flatMap(({ large, small }) => [large, small])
