import { version as packaged } from '../package.json'

/** The version of this program, as package.json has it. */
export const version = packaged
