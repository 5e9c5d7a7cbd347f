import * as apps from '../../apps/apps.ts'
import { imageTypeOf } from '../../apps/folders/read-pack.ts'
import { readFiles } from '../../apps/packs/packs.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html } from '../../kernel/html.ts'
import { versionsPerAppMax } from '../../kernel/limits.ts'
import { formatBytes } from '../../site/format.ts'
import type { Page } from '../../site/layout.ts'
import { fileTree } from '../../site/packs/files.ts'
import type { UserRequest } from '../../site/session.ts'
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
