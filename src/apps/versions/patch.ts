import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import * as apps from '../apps.ts'
import { listAssets, readFiles } from '../assets/assets.ts'
import { isLocatedCode } from '../folders/page-location.ts'
import { isHtml, isScript } from '../folders/page-names.ts'
import { readPage } from '../page-content.ts'
import type { PageUpload } from '../publish-request.ts'
import type { PatchChange } from './apply-patch.ts'
import { readDiff } from './diff.ts'
import type { PatchRequest } from './schemas.ts'
import { runPatch } from './source.ts'

/** Name of a page that came alone. */
export const loneName = 'index.html'

/** A change with the file that it names, which may be left out or unknown. */
interface NamedChange {
  path: string | undefined
  change: PatchChange
}

const patchHelp =
  'Send a unified diff with the headers "--- a/index.html", "+++ b/index.html" and "@@ -1,3 +1,3 @@", or "edits".'

/** Returns the changes of a patch in its order. Throws `bad_request`. */
function changesOf({ edits, diff }: PatchRequest): NamedChange[] {
  if ((edits === undefined) === (diff === undefined))
    rejectRequest('"patch" must have exactly one of "edits" and "diff".', 'patch')
  if (edits) return edits.map(({ file, ...change }) => ({ path: file, change }))
  try {
    return readDiff(diff ?? '')
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return rejectRequest(`The diff cannot be read: ${problem}. ${patchHelp}`, 'patch')
  }
}

/**
 * Applies a patch to the newest version of an app. Returns its page with the files that changed,
 * to publish. Throws `bad_request`, `patch_conflict`, `busy` before the first version and
 * `try_again`.
 */
export async function patchVersion(
  ctx: AppContext,
  app: apps.App,
  patch: PatchRequest,
): Promise<PageUpload> {
  apps.checkBuilt(app)
  checkNewest(app, patch.version)
  const changes = changesOf(patch)
  if (changes.length === 0) rejectRequest(`The diff changes nothing. ${patchHelp}`, 'patch')
  const version = await apps.getVersion(ctx, app.id, app.version)
  const assets = await listAssets(ctx, app.id, app.version)
  const page = version.page ?? loneName
  const names = new Set([page, ...assets.map(({ name }) => name)])
  const byPath = new Map<string, { number: number; change: PatchChange }[]>()
  for (const [at, { path, change }] of changes.entries()) {
    const file = findName(names, page, path)
    byPath.set(file, [...(byPath.get(file) ?? []), { number: at + 1, change }])
  }
  const rows = assets.filter(({ name }) => byPath.has(name) && name !== page)
  const { identity } = await readPage(ctx, version)
  const contents = [
    { name: page, type: 'text/html', content: identity },
    ...(await readFiles(ctx, rows)),
  ]
  let html = new TextDecoder('utf-8', { ignoreBOM: true }).decode(identity)
  const files: PageFile[] = []
  const located: string[] = []
  for (const { name, type, content } of contents) {
    const own = byPath.get(name)
    if (!own) continue
    if (!isText(type, content))
      rejectRequest(`"${name}" is no text. Send the whole file in "files".`, 'patch')
    const isLocated = version.page !== null && (isHtml(name) || isScript(name))
    const text = await runPatch({ path: name, bytes: content, changes: own, isLocated })
    if (typeof text !== 'string')
      throw new ApiError('patch_conflict', { ...text, version: app.version })
    if (isLocated && isLocatedCode(text)) located.push(name)
    if (name === page) html = text
    else files.push({ path: name, bytes: new TextEncoder().encode(text) })
  }
  if (files.length === 0) return { html }
  return { html, folder: { page, files, mount: '', rooted: [], located, outside: [] } }
}

type PageFile = NonNullable<PageUpload['folder']>['files'][number]

const isText = (type: string, content: Uint8Array): boolean =>
  !/^(?:image\/(?!svg)|audio|video|font)/.test(type) && !content.includes(0)

/** Throws `patch_conflict` for a patch of a version that another one has replaced. */
function checkNewest({ id, version }: apps.App, base: number | undefined): void {
  if (base === undefined || base === version) return
  if (base > version) {
    const see = `GET /apps/${id}/versions lists them.`
    throw new ApiError('not_found', { what: 'version', see })
  }
  throw new ApiError('patch_conflict', { version, base })
}

/** Finds the file that a change names; the page by default. Throws `bad_request`. */
function findName(names: ReadonlySet<string>, page: string, path: string | undefined): string {
  if (path === undefined) return page
  const found = [path, path.replace(/^[ab]\//, '')].find((name) => names.has(name))
  // A page that came alone has any name in a diff.
  const name = found ?? (names.size === 1 && /\.html?$/i.test(path) ? page : undefined)
  if (name !== undefined) return name
  const known = [...names].slice(0, 20).join(', ')
  return rejectRequest(
    `The newest version has no file "${path.slice(0, 200)}" to patch. It has ${known}. ` +
      'A patch changes files that exist: send a new one in "files".',
    'patch',
  )
}
