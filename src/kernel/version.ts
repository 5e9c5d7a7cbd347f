import { version as packaged } from '../../package.json'

/** Set by scripts/build. */
declare const buildTarget: string | undefined

/** The version in package.json. */
export const version = packaged

/** The target that the binary was built for, such as "linux-x64". Undefined from source. */
export const target = typeof buildTarget === 'undefined' ? undefined : buildTarget
