import { LRUCache } from 'lru-cache'

import * as apps from '../apps/apps.ts'
import { isOpenToAll } from '../apps/audience/access.ts'
import type { AppContext } from '../kernel/context.ts'
import { ApiError } from '../kernel/errors.ts'
import { createEntity, type Entity } from '../kernel/http/entity.ts'
import { idPattern, sha256 } from '../kernel/ids.ts'
import { lookUp } from '../kernel/schema.ts'
import { signalFlag } from './art.ts'

/** Sides in pixels of the icons of installed apps, by their names in the manifest. */
const sides = { '192.png': 192, '512.png': 512, 'maskable.png': 512 }
/** A mask keeps a circle of this part (https://www.w3.org/TR/appmanifest/#icon-masks). */
const safePart = 0.8
const ground = '#17191b'
/** An icon has a few hundred KB at most. */
const iconsKept = 60

const cache = new LRUCache<string, Promise<Uint8Array>>({ max: iconsKept })

/** The image of an app: its hash, and the part of a masked icon that it fills. */
interface Image {
  sha256: string
  part: number
  color: string
}

/** Returns the icon of an app, or else its cover; undefined where not everyone may see one. */
async function findImage(ctx: AppContext, id: string): Promise<Image | undefined> {
  const app = await apps.findApp(ctx, id)
  const isShown = app?.closed === null && app.takenDown === null && app.quarantinedAt === null
  if (!isShown || !isOpenToAll(ctx, app)) return undefined
  const color = app.coverColor ?? ground
  if (app.icon !== null) return { sha256: app.icon, part: safePart, color }
  return app.cover === null ? undefined : { sha256: app.cover, part: 1, color }
}

/**
 * Returns a PNG of an installed app: of its icon or its cover, or else a flag, which depends only
 * on the id. So it is the same for a restricted app and for an unknown id. Throws `not_found` for
 * any other name and where the stored
 * image is gone, and `try_again`.
 */
export async function readAppIcon(ctx: AppContext, id: string, name: string): Promise<Entity> {
  const side = lookUp(sides, name)
  if (side === undefined || !idPattern.test(id))
    throw new ApiError('not_found', { what: 'picture' })
  const image = await findImage(ctx, id)
  const key = sha256(JSON.stringify([name, image ?? id]))
  const known = cache.get(key) ?? drawIcon(ctx, { id, side, isMasked: name.startsWith('m') }, image)
  cache.set(key, known)
  known.catch(() => cache.delete(key))
  const headers = { 'content-type': 'image/png', 'cache-control': 'private, max-age=86400' }
  return createEntity({ etag: key.slice(0, 32), identity: await known }, headers)
}

async function drawIcon(
  ctx: AppContext,
  { id, side, isMasked }: { id: string; side: number; isMasked: boolean },
  image: Image | undefined,
): Promise<Uint8Array> {
  const content = image ? await imageOf(ctx, image, isMasked) : signalFlag(id).text
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}">${content}</svg>`
  return (await ctx.generators.generate({ kind: 'svg', svg })).bytes
}

async function imageOf(
  ctx: AppContext,
  { sha256: hash, part, color }: Image,
  isMasked: boolean,
): Promise<string> {
  const bytes = await ctx.storage.read(hash)
  if (!bytes) throw new ApiError('not_found', { what: 'picture' })
  const png = await new Bun.Image(new Uint8Array(bytes)).png().bytes()
  const size = isMasked ? 100 * part : 100
  const margin = (100 - size) / 2
  const place = `x="${margin}%" y="${margin}%" width="${size}%" height="${size}%"`
  const image = `<image href="data:image/png;base64,${Buffer.from(png).toString('base64')}" ${place} preserveAspectRatio="xMidYMid slice"/>`
  return size < 100 ? `<rect width="100%" height="100%" fill="${color}"/>${image}` : image
}
