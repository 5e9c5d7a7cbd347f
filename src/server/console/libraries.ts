import { countAllApps } from '../../apps/libraries/added.ts'
import { bytesOf, labelOf, type Library } from '../../apps/libraries/library.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { searchTerm, withQuery } from '../../site/components.ts'
import { formDialog } from '../../site/form-dialog.ts'
import { form } from '../../site/form.ts'
import { formatBytes, formatCount } from '../../site/format.ts'
import {
  button,
  confirmDialog,
  type Form,
  hiddenField,
  inputField,
  notice,
  postForm,
} from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import {
  type Cell,
  type Column,
  dataTable,
  emptyState,
  numberPager,
  paginate,
  usual,
} from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { wireWord } from '../../site/wire-words.ts'
import { addLibrary, removeLibrary } from '../operator/library-operations.ts'
import { consolePage, searchCharsMax, searchForm, statusLine } from './components.ts'

const place = '/console/libraries'
const rowsShown = 50

function libraryRow(token: string, library: Library, apps: number): Cell[] {
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
    apps === 0 ? usual('0') : formatCount(apps, 'app'),
    library.source === 'embedded' ? usual(t('program')) : wireWord(library.source),
    // A library of the binary, or one that apps use, cannot be removed.
    library.source !== 'embedded' &&
      apps === 0 &&
      postForm(token, place, html`${hiddenField('library', label)}${remove}`),
  ]
}

const heads: Column[] = [
  { long: msg('Library') },
  { long: msg('License') },
  { number: msg('Size') },
  { number: msg('Apps'), onPhone: 'figure' },
  { capitalized: msg('Source') },
  { unseen: msg('Actions') },
]

/** The form that adds a package of the npm registry. */
const addForm = (token: string, typed: Form | undefined): Html =>
  postForm(
    token,
    place,
    html`${hiddenField('act', 'add')}${inputField({
      label: t('npm package'),
      name: 'name',
      value: typed?.text('name'),
      hint: t('For example three, or @react-three/fiber.'),
    })}${inputField({
      label: t('Version'),
      name: 'version',
      value: typed?.text('version'),
      hint: t('An exact version, such as 0.180.0.'),
      max: 80,
    })}${button(t('Add library'))}`,
  )

/** Lists the libraries that pages can load, those that apps use most first. */
export async function librariesPage(
  { ctx, token, query }: UserRequest,
  message?: string,
  submitted?: Form,
): Promise<Page> {
  const q = searchTerm(query, searchCharsMax)
  const all = await ctx.libraries.list()
  const apps = await countAllApps(ctx, all)
  const countOf = (library: Library): number => apps.get(library) ?? 0
  const found = all
    .filter((library) =>
      labelOf(library)
        .toLowerCase()
        .includes(q?.toLowerCase() ?? ''),
    )
    .toSorted((a, b) => countOf(b) - countOf(a))
  const shown = paginate(query, found, rowsShown)
  const none = emptyState(
    t('No libraries found'),
    t('Add the package, or search for a part of its name.'),
  )
  const typed = submitted?.text('act') === 'add' ? submitted : undefined
  const add = formDialog({
    label: t('Add a library'),
    form: addForm(token, typed),
    isOpen: typed !== undefined,
    message,
  })
  const own = all.filter(({ source }) => source !== 'embedded').length
  const main = html`${addedNotice(all, query.get('added'))}
    ${statusLine(
      formatCount(all.length, 'library', 'libraries'),
      t(
        '{embedded} are part of this program, {own} were added. Those that apps use cannot be removed.',
        {
          embedded: all.length - own,
          own,
        },
      ),
    )}
    ${searchForm(place, t('Search by name'), q)}
    <div class="libraries">
      ${dataTable(
        t('Libraries'),
        heads,
        shown.rows.map((library) => libraryRow(token, library, countOf(library))),
        none,
      )}
    </div>
    ${numberPager(place, shown, { q })}`
  const lead = t('The npm packages that pages load by the addresses of CDNs.')
  return consolePage({
    place,
    title: t('Libraries'),
    lead,
    action: html`<div class="actions">${add}</div>`,
    message: typed ? undefined : message,
    main,
  })
}

/** Says that the library of this label can be loaded, where there is one. */
function addedNotice(all: Library[], label: string | null): Part {
  const isThere = label !== null && all.some((library) => labelOf(library) === label)
  return isThere && notice(t('{label} can be loaded now.', { label }))
}

/** Returns the form that adds a package, or removes a library that no app uses. */
export function libraryForm(sent: Form) {
  if (sent.text('act') !== 'add') return form(removeLibrary, { then: place })
  const label = `${sent.text('name').trim()}@${sent.text('version').trim()}`
  return form(addLibrary, {
    fields: () => ({ library: label }),
    then: withQuery(place, { added: label, q: sent.text('name').trim() }),
  })
}
