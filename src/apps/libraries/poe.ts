import { createHostLibrary } from './library.ts'

export const poeModule = 'poe.mjs'

/**
 * The module of Poe's newer API, which Poe adds to each app by an import map. Source: the
 * documentation of Poe's platform of apps, "Embed API" (November 2026).
 */
export const poeLibrary = createHostLibrary('poe', {
  [poeModule]: `const { Poe } = globalThis
export { Poe }
export default Poe
export const createPoe = () => Poe
export class PostMessageEnvironment {}
export const defineClientConfig = (config) => config
`,
})

/** Returns whether a name is one of that module: "@poe/embed-api/v1.js". */
export const isPoeModule = (name: string): boolean =>
  /^(?:@poe\/embed-api|poe-apps-sdk)(?:\/|$)/.test(name)
