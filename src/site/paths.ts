import { encodePath } from '../kernel/http/path.ts'

export const playgroundPath = '/wallet/playground'

export const modelsPath = '/catalogue'

/** Returns the path of a model's page. The slash of an ID stays as it is. */
export const modelPath = (id: string): string => `${modelsPath}/${encodePath(id)}`
