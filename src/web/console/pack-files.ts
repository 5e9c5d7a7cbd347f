import { requireWhole } from '../../core/cursor.ts'
import { html } from '../../core/html.ts'
import { ApiError } from '../../errors.ts'
import * as apps from '../../hosting/apps/apps.ts'
import { imageTypeOf } from '../../hosting/folders/read-pack.ts'
import { readFiles } from '../../hosting/packs/packs.ts'
import { versionsPerAppMax } from '../../limits.ts'
import { formatBytes } from '../format.ts'
import type { Page } from '../layout.ts'
import { fileTree } from '../packs/files.ts'
import type { UserRequest } from '../session.ts'
import { consolePage } from './components.ts'

/**
 * Shows the operator the source of a version of a pack in any state, never rendered. Throws
 * `not_found` and `bad_request`.
 */
export async function packFilesPage({ ctx, query }: UserRequest, id: string): Promise<Page> {
  const app = await apps.findApp(ctx, id)
  if (!app) throw new ApiError('not_found', { what: 'pack' })
  const chosen = Number(query.get('version') ?? app.version)
  const version = requireWhole('version', chosen, versionsPerAppMax)
  const row = await apps.getVersion(ctx, id, version)
  if (!row.folder) throw new ApiError('not_found', { what: 'pack' })
  const files = await readFiles(ctx, row)
  const file = files.find(({ path }) => path === query.get('file')) ?? files[0]
  const path = file?.path ?? ''
  const text =
    file && imageTypeOf(path) === undefined
      ? new TextDecoder().decode(file.bytes)
      : `An image of ${formatBytes(file?.bytes.byteLength ?? 0)}.`
  const viewUrl = `/console/apps/${id}/files?version=${version}&file=`
  const main = html`<p><a href="/console/apps/${id}">Back to the case</a></p>
    <div class="pack-columns">
      ${fileTree(row.folder.files, viewUrl, path)}
      <div class="file-view">
        <pre class="plain-file" tabindex="0" aria-label="${path}"><code>${text}</code></pre>
      </div>
    </div>`
  const title = `${app.title}, version ${version}`
  return {
    ...consolePage({ place: '/console/queue', title, main }),
    styles: ['console.css', 'packs.css'],
  }
}
