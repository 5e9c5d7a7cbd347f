import type { AppContext } from '../context.ts'

/** Returns the public link of an app (document 1, section 2). */
export const appUrl = ({ urls }: Pick<AppContext, 'urls'>, id: string): string =>
  `${urls.app}/a/${id}`
