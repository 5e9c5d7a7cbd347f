import { homedir } from 'node:os'
import { join } from 'node:path'

/** The variables of commands that call a server. They are no settings of a server. */
export const clientVariables: ReadonlySet<string> = new Set(['BERTH_URL', 'BERTH_KEY'])

/** Reads the environment of commands that call a server. */
export function readClientEnvironment() {
  const { BERTH_URL: url, BERTH_KEY: key, XDG_CONFIG_HOME, APPDATA } = Bun.env
  const base = XDG_CONFIG_HOME || APPDATA || join(homedir(), '.config')
  return { url, key, folder: join(base, 'berth') }
}
