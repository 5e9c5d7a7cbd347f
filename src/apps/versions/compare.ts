import type { AppContext } from '../../kernel/context.ts'
import { patchCharsMax } from '../../kernel/limits.ts'
import * as apps from '../apps.ts'
import { listAssets, readFiles } from '../assets/assets.ts'
import { readPage } from '../page-content.ts'
import { loneName } from './patch.ts'
import type { FileDiffBody } from './schemas.ts'
import { compareFiles } from './source.ts'

interface VersionFile {
  sha256: string
  bytes: number
  type: string
  read(): Promise<Uint8Array | undefined>
}

/** Returns the files of a version by their names: its page and those of its folder. */
async function filesOf(
  ctx: AppContext,
  app: apps.App,
  number: number,
  withPage: boolean,
): Promise<Map<string, VersionFile>> {
  const version = await apps.getVersion(ctx, app.id, number)
  const page: VersionFile = {
    sha256: version.sha256,
    bytes: version.htmlBytes,
    type: 'text/html',
    read: async () => (await readPage(ctx, version)).identity,
  }
  const rows = await listAssets(ctx, app.id, number)
  const files = rows.map((row): [string, VersionFile] => [
    row.name,
    { ...row, read: async () => (await readFiles(ctx, [row]))[0]?.content },
  ])
  return new Map([...(withPage ? [[version.page ?? loneName, page] as const] : []), ...files])
}

const isText = ({ type }: VersionFile): boolean => /^text\/|javascript|json|svg|xml/.test(type)

/**
 * Compares two versions of an app, file by file in the order of their names. A diff is null for
 * files that are no text, too different or beyond the limit. Throws `not_found` and `try_again`.
 */
export async function compareVersions(
  ctx: AppContext,
  app: apps.App,
  from: number,
  to: number,
  { withPage = true } = {},
): Promise<FileDiffBody[]> {
  const [before, after] = [
    await filesOf(ctx, app, from, withPage),
    await filesOf(ctx, app, to, withPage),
  ]
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  const bodies: FileDiffBody[] = []
  let chars = 0
  for (const path of names) {
    const [old, now] = [before.get(path), after.get(path)]
    if (old?.sha256 === now?.sha256) continue
    const change = !old ? 'added' : !now ? 'removed' : 'changed'
    const sizes = { path, change, before: old?.bytes ?? 0, after: now?.bytes ?? 0 } as const
    const isShown = [old, now].every((file) => !file || isText(file)) && chars < patchCharsMax
    const found = isShown ? await compare(path, old, now) : undefined
    const isWithin = found !== undefined && chars + found.text.length <= patchCharsMax
    if (isWithin) chars += found.text.length
    bodies.push(
      isWithin
        ? { ...sizes, added: found.added, removed: found.removed, diff: found.text }
        : { ...sizes, added: null, removed: null, diff: null },
    )
  }
  return bodies
}

async function compare(path: string, old: VersionFile | undefined, now: VersionFile | undefined) {
  const [before, after] = await Promise.all([old?.read(), now?.read()])
  return compareFiles(path, before ?? new Uint8Array(), after ?? new Uint8Array())
}
