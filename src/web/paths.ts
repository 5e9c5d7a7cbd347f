/** The path of the playground. */
export const playgroundPath = '/wallet/playground'

/** The path of the list of models. */
export const modelsPath = '/catalogue'

/** Returns the path of a model's page. The slash of an ID stays as it is. */
export const modelPath = (id: string): string =>
  `${modelsPath}/${id.split('/').map(encodeURIComponent).join('/')}`
