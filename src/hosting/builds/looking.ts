import type { Looked } from '../../browser/look.ts'
import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import type { App } from '../apps/apps.ts'
import { rowsOf } from '../assets/assets.ts'
import type { FreshAsset } from '../assets/landing.ts'
import { iconFrom } from '../icons/picture.ts'

/**
 * Opens a page in the browser of this machine as its visitors would, with the files that its app
 * has and those just made. Undefined where there is no browser.
 */
export async function look(
  house: House,
  { id, version }: App,
  { html, files }: { html: string; files: FreshAsset[] },
  signal: AbortSignal,
): Promise<Looked | undefined> {
  if (!house.looker.isThere) return undefined
  const own = [...(await rowsOf(house, id, version)), ...files.map(({ row }) => row)]
  const all = await Promise.all(
    own.map(async ({ name, type, sha256 }) => {
      const content = await house.store.read(sha256)
      return content ? [{ name, type, sha256, content }] : []
    }),
  )
  const trial = { html: new TextEncoder().encode(html), files: all.flat() }
  return house.looker.look(trial, signal)
}

/** The tile's picture from what was seen, kept; undefined when it makes none. */
export async function iconSeen(house: House, seen: Looked | undefined) {
  if (!seen?.picture) return undefined
  try {
    const { sha256 } = await house.store.put(await iconFrom(house, seen.picture))
    return sha256
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}
