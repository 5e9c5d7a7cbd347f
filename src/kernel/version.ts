import { version as packaged } from '../../package.json'

/** The version in package.json. */
export const version = packaged
