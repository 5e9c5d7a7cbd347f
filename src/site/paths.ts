import type { AppContext } from '../kernel/context.ts'
import { encodePath } from '../kernel/http/path.ts'

export const playgroundPath = '/wallet/playground'

export const modelsPath = '/catalogue'

/** Returns the path of a model's page. The slash of an ID stays as it is. */
export const modelPath = (id: string): string => `${modelsPath}/${encodePath(id)}`

/** The path of an image's URL, so that it loads from the host that served the page. */
export const imagePath = ({ urls }: AppContext, url: string): string => url.slice(urls.app.length)

export const addMoneyPath = '/wallet/add'
