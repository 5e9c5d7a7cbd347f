import { isPlainText } from '../../core/text.ts'
import { ApiError } from '../../errors.ts'
import { createAppeal } from '../../hosting/apps/appeal/appeals.ts'
import * as apps from '../../hosting/apps/apps.ts'
import * as assets from '../../hosting/apps/assets/assets.ts'
import { deleteApp } from '../../hosting/apps/deletion.ts'
import { changeApp } from '../../hosting/apps/publish.ts'
import { restoreDeletedApp } from '../../hosting/apps/quarantine.ts'
import { rescan } from '../../hosting/apps/scan/scans.ts'
import { type ChangeAppRequest, ChangeAppSchema } from '../../hosting/apps/schemas.ts'
import { shelfNames } from '../../hosting/apps/shelves.ts'
import { restoreVersion } from '../../hosting/apps/versions/versions.ts'
import { createValidator } from '../../http/validation.ts'
import { appealCharsMax, remixPriceCreditsMax } from '../../limits.ts'
import { formatCredits } from '../format.ts'
import { parseCredits, rejectForm, type SubmittedForm } from '../forms.ts'
import type { Studio, Tab } from './studio.ts'

/** What a form of a studio asks, the page it stands on, and what is said once it is done. */
interface StudioAction {
  tab: Tab
  work(studio: Studio, form: SubmittedForm): Promise<string | undefined>
}

const checkChange = createValidator(ChangeAppSchema)

/** Changes the fields of an app; answers that, and what became of it on Explore. */
const saveChanges =
  (wanted: (form: SubmittedForm) => ChangeAppRequest): StudioAction['work'] =>
  async ({ signedIn, agent, app }, form) => {
    const changes = wanted(form)
    checkChange(changes)
    return `Saved. ${(await changeApp(signedIn.ctx, agent, app.id, changes)).note}`
  }

const details = saveChanges((form) => {
  const shelf = shelfNames.find((name) => name === form.text('shelf'))
  if (!shelf) rejectForm('Choose a shelf.')
  const title = form.text('title').trim() || rejectForm('Give it a title.')
  const description = form.text('description').replaceAll('\r\n', '\n')
  return { title, description, shelf, comments: form.has('comments') }
})

const remixTerms = saveChanges((form) => {
  const remix = (['off', 'free', 'price'] as const).find((name) => name === form.text('remix'))
  if (!remix) rejectForm('Choose whether it may be remixed.')
  if (remix !== 'price') return { remix }
  const priceRemix = parseCredits(form, 'priceRemix') ?? 0
  if (!Number.isInteger(priceRemix) || priceRemix < 1 || priceRemix > remixPriceCreditsMax) {
    rejectForm(`A remix costs 1 to ${formatCredits(remixPriceCreditsMax)} whole credits.`)
  }
  return { remix, priceRemix }
})

/** Names that forms send to, below /studio/<id>. */
const actions: Record<string, StudioAction> = {
  restore: {
    tab: 'versions',
    async work({ signedIn, agent, app }, form) {
      const version = Number(form.text('version'))
      await restoreVersion(signedIn.ctx, agent, app.id, Number.isInteger(version) ? version : 0)
      return undefined
    },
  },
  upload: {
    tab: 'assets',
    async work({ signedIn, agent, app }, form) {
      const file = form.file('file') ?? rejectForm('Choose a file.')
      await assets.putAsset(
        signedIn.ctx,
        agent,
        app.id,
        form.text('name').trim(),
        await file.bytes(),
      )
      return undefined
    },
  },
  remove: {
    tab: 'assets',
    async work({ signedIn, agent, app }, form) {
      await assets.deleteAsset(signedIn.ctx, agent, app.id, form.text('name'))
      return undefined
    },
  },
  details: { tab: 'listing', work: details },
  explore: { tab: 'listing', work: saveChanges((form) => ({ store: form.text('store') === 'yes' })) },
  remix: { tab: 'listing', work: remixTerms },
  delete: {
    tab: 'listing',
    async work({ signedIn, agent, app }) {
      await deleteApp(signedIn.ctx, await apps.getOwnApp(signedIn.ctx, agent, app.id))
      return undefined
    },
  },
  undelete: {
    tab: '',
    async work({ signedIn, agent, app }) {
      await restoreDeletedApp(signedIn.ctx, agent, app.id)
      return undefined
    },
  },
  rescan: {
    tab: 'safety',
    async work({ signedIn, agent, app }) {
      await rescan(signedIn.ctx, agent, app.id)
      return 'It was checked again.'
    },
  },
  appeal: {
    tab: 'safety',
    async work({ signedIn, agent, app }, form) {
      const text = form.text('text').replaceAll('\r\n', '\n')
      if (text.trim() === '' || !isPlainText(text, appealCharsMax)) {
        rejectForm(
          `Say why it is fine, in plain text of at most ${appealCharsMax.toLocaleString('en')} characters.`,
        )
      }
      await createAppeal(signedIn.ctx, agent, app.id, text)
      return undefined
    },
  },
}

/** The act of this name. Refuses not_found. */
export function getAction(name: string): StudioAction {
  const found = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (found) return found
  throw new ApiError('not_found', { what: 'address', see: 'The studio links to what there is.' })
}
