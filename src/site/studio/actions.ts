import { createAppeal } from '../../apps/appeal/appeals.ts'
import * as apps from '../../apps/apps.ts'
import * as assets from '../../apps/assets/assets.ts'
import { startChange } from '../../apps/builds/builds.ts'
import { deleteApp, restoreDeletedApp } from '../../apps/deletion.ts'
import { cancelJob } from '../../apps/jobs/jobs.ts'
import { changeItem } from '../../apps/publish.ts'
import { rescan } from '../../apps/scans/scans.ts'
import { type ChangeAppRequest, ChangeAppSchema } from '../../apps/schemas.ts'
import { shelfNames } from '../../apps/shelves.ts'
import { publishVersion, restoreVersion } from '../../apps/versions/versions.ts'
import { ApiError } from '../../kernel/errors.ts'
import { createValidator } from '../../kernel/http/validation.ts'
import { appealCharsMax, remixPriceCreditsMax } from '../../kernel/limits.ts'
import { isRecord, lookUp } from '../../kernel/schema.ts'
import { isPlainText } from '../../kernel/text.ts'
import { shortCredits } from '../format.ts'
import { type Form, readCredits, readRef, rejectForm } from '../forms.ts'
import { packActions } from '../packs/studio-actions.ts'
import { changeIcon } from './icon.ts'
import { changeCover, changeScreenshot } from './images.ts'
import type { StudioAction } from './studio.ts'

const checkChange = createValidator(ChangeAppSchema)

/** Creates an action that changes fields of an app and reports the result on Explore. */
const saveChanges =
  (read: (form: Form) => ChangeAppRequest): StudioAction['work'] =>
  async ({ req, agent, app }, form) => {
    const changes = read(form)
    checkChange(changes)
    return `Saved. ${(await changeItem(req.ctx, agent, app.id, changes, [app.kind])).note}`
  }

const details = saveChanges((form) => {
  const shelf = shelfNames.find((name) => name === form.text('shelf'))
  if (!shelf) rejectForm('Choose a shelf.')
  const title = form.text('title').trim() || rejectForm('Enter a title.')
  const description = form.text('description').replaceAll('\r\n', '\n')
  return { title, description, shelf, comments: form.has('comments') }
})

const remixTerms = saveChanges((form) => {
  const remix = (['off', 'free', 'price'] as const).find((name) => name === form.text('remix'))
  if (!remix) rejectForm('Choose who can remix this app.')
  if (remix !== 'price') return { remix }
  const priceRemix = readCredits(form, 'priceRemix') ?? 0
  if (!Number.isInteger(priceRemix) || priceRemix < 1 || priceRemix > remixPriceCreditsMax) {
    rejectForm(`Enter a remix price of 1 to ${shortCredits(remixPriceCreditsMax)} whole credits.`)
  }
  return { remix, priceRemix }
})

/** Starts a build of the next version at the shown price. */
const change: StudioAction['work'] = async ({ req: { ctx }, agent, app }, form) => {
  const prompt = form.text('prompt').replaceAll('\r\n', '\n')
  if (prompt.trim() === '') rejectForm('Describe the change.')
  const [maxCredits, ref] = [Number(form.text('max')), readRef(form)]
  if (!(maxCredits > 0)) rejectForm('Reload the page and try again.')
  await startChange(ctx, { agent }, app.id, { prompt, maxCredits, ref })
}

/** Publishes the edited page as the next version. The same form publishes once. */
const page: StudioAction['work'] = async ({ req: { ctx }, agent, app }, form) => {
  const html = form.text('html').replaceAll('\r\n', '\n')
  if (html.trim() === '') rejectForm('The page is empty.')
  const request = { html, ref: readRef(form), note: form.text('note').trim() }
  const { body } = await publishVersion(ctx, agent, app.id, request)
  const published = isRecord(body) ? String(body['note'] ?? '') : ''
  return `Published. ${published}`
}

/** Returns the name of an uploaded file in the characters of asset names. */
const fileName = (file: Blob): string =>
  file instanceof File
    ? file.name
        .toLowerCase()
        .replaceAll(/[^a-z0-9._-]+/g, '-')
        .slice(-64)
    : ''

/** Actions by the last segment of their path, /studio/{id}/{name}. */
const actions: Record<string, StudioAction> = {
  ...packActions,
  change: { tab: 'build', work: change },
  cancel: {
    tab: 'build',
    async work({ req, agent }, form) {
      await cancelJob(req.ctx, agent, form.text('job'))
    },
  },
  page: { tab: 'code', work: page },
  restore: {
    tab: 'versions',
    async work({ req, agent, app }, form) {
      const version = Number(form.text('version'))
      await restoreVersion(req.ctx, agent, app.id, Number.isInteger(version) ? version : 0, [
        app.kind,
      ])
    },
  },
  upload: {
    tab: 'assets',
    async work({ req, agent, app }, form) {
      const file = form.file('file') ?? rejectForm('Choose a file.')
      const name = form.text('name').trim() || fileName(file)
      await assets.putAsset(req.ctx, agent, app.id, name, await file.bytes())
    },
  },
  remove: {
    tab: 'assets',
    async work({ req, agent, app }, form) {
      await assets.deleteAsset(req.ctx, agent, app.id, form.text('name'))
    },
  },
  cover: { tab: 'listing', work: changeCover },
  screenshot: { tab: 'listing', work: changeScreenshot },
  icon: { tab: 'listing', work: changeIcon },
  details: { tab: 'listing', work: details },
  explore: {
    tab: 'listing',
    work: saveChanges((form) => ({ store: form.text('store') === 'yes' })),
  },
  remix: { tab: 'listing', work: remixTerms },
  delete: {
    tab: 'listing',
    async work({ req, agent, app }) {
      await deleteApp(req.ctx, await apps.getOwnApp(req.ctx, agent, app.id, [app.kind]))
    },
  },
  undelete: {
    tab: '',
    async work({ req, agent, app }) {
      await restoreDeletedApp(req.ctx, agent, app.id, [app.kind])
    },
  },
  rescan: {
    tab: 'safety',
    async work({ req, agent, app }) {
      await rescan(req.ctx, agent, app.id)
      return 'Safety check completed.'
    },
  },
  appeal: {
    tab: 'safety',
    async work({ req, agent, app }, form) {
      const text = form.text('text').replaceAll('\r\n', '\n')
      if (text.trim() === '' || !isPlainText(text, appealCharsMax)) {
        rejectForm(
          `Enter a reason in plain text of at most ${appealCharsMax.toLocaleString('en')} characters.`,
        )
      }
      await createAppeal(req.ctx, agent, app.id, text)
    },
  },
}

export const findAction = (name: string): StudioAction | undefined => lookUp(actions, name)

/** Throws `not_found`. */
export function getAction(name: string): StudioAction {
  const found = findAction(name)
  if (found) return found
  throw new ApiError('not_found', { what: 'page', see: 'Use the tabs of the app.' })
}
