import { countAllApps } from '../../apps/libraries/added.ts'
import { bytesOf, labelOf, type Library } from '../../apps/libraries/library.ts'
import { html, type Part } from '../../kernel/html.ts'
import { t, type Text } from '../../kernel/words/message.ts'
import { withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatBytes, formatCompact } from '../../site/format.ts'
import { confirmDialog, hiddenField, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { wireWord } from '../../site/wire-words.ts'
import { removeLibrary } from '../operator/operations.ts'
import { consolePage } from './components.ts'

const place = '/console/libraries'

function libraryRow(token: string, library: Library, apps: number): Part[] {
  const label = labelOf(library)
  const remove = confirmDialog({
    label: t('Remove'),
    target: label,
    question: html`Remove <bdi>${label}</bdi>?`,
    consequence: t('New pages that name it get another version of it, or a warning.'),
  })
  return [
    html`<bdi>${label}</bdi>`,
    html`<a href="${withQuery('/api/libraries/license', { library: label })}"
      ><bdi>${library.license}</bdi></a
    >`,
    formatBytes(bytesOf(library)),
    formatCompact(apps),
    wireWord(library.source),
    // A library of the binary, or one that apps use, cannot be removed.
    library.source !== 'embedded' &&
      apps === 0 &&
      postForm(token, place, html`${hiddenField('library', label)}${remove}`),
  ]
}

/** Lists the libraries that pages can load. Those of the program that no app uses are folded. */
export async function librariesPage({ ctx, token }: UserRequest, message?: string): Promise<Page> {
  const all = await ctx.libraries.list()
  const apps = await countAllApps(ctx, all)
  const countOf = (library: Library): number => apps.get(library) ?? 0
  const isUnused = (library: Library): boolean =>
    library.source === 'embedded' && countOf(library) === 0
  const heads = [
    { long: t('Library') },
    { long: t('License') },
    { number: t('Size') },
    { number: t('Apps') },
    { capitalized: t('Source') },
    { unseen: t('Actions') },
  ]
  const table = (title: Text, libraries: Library[]): Part =>
    dataTable(
      title,
      heads,
      libraries.map((library) => libraryRow(token, library, countOf(library))),
      t('No app uses a library yet.'),
    )
  const unused = all.filter(isUnused)
  const main = html`<div class="libraries">
      ${table(
        t('Libraries'),
        all.filter((library) => !isUnused(library)),
      )}
      ${
        unused.length > 0 &&
        html`<details>
          <summary>
            ${t('Libraries of the program that no app uses ({length})', { length: unused.length })}
          </summary>
          ${table(t('Libraries of the program'), unused)}
        </details>`
      }
    </div>
    <p class="small below">
      <code>berth libraries add three@0.170.0</code> adds one. Libraries of the program, and those
      that apps use, cannot be removed.
    </p>`
  const lead = t('The npm packages that pages load by the addresses of CDNs.')
  return consolePage({ place, title: t('Libraries'), lead, message, main })
}

export const libraryForm = form(removeLibrary, { then: place })
