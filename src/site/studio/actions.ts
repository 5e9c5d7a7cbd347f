import { appeal } from '../../apps/appeal/operations.ts'
import { deleteAsset, putAsset } from '../../apps/assets/operations.ts'
import { cancelJob } from '../../apps/jobs/operations.ts'
import { isPackKind, type PackKind } from '../../apps/kinds.ts'
import { changeApp, deleteApp, restoreApp } from '../../apps/operations.ts'
import {
  changePack,
  deletePack,
  restorePack,
  restorePackVersion,
} from '../../apps/packs/operations.ts'
import { rescanApp } from '../../apps/scans/operations.ts'
import { publishVersion, restoreVersion } from '../../apps/versions/operations.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { type Json, lookUp } from '../../kernel/schema.ts'
import { t } from '../../kernel/words/message.ts'
import { fieldsOf } from '../form.ts'
import { dataUrlOf, type Form, readRef } from '../forms.ts'
import { packActions } from '../packs/studio-files.ts'
import { addLink, endLink, saveAudience } from './access.ts'
import { changeCover, changeIcon, changeScreenshot } from './images.ts'
import { act, type Studio, type StudioAction } from './studio.ts'

/** Returns the operation for the kind of an item: that of apps, or that of a kind of packs. */
const operationFor = <App, Pack>({ app }: Studio, ofApp: App, ofPack: Record<PackKind, Pack>) =>
  isPackKind(app.kind) ? ofPack[app.kind] : ofApp

/** Creates an action that changes fields of an item and reports the result on Explore. */
const saveChanges =
  (read: (form: Form, fields: Json) => Json): StudioAction['work'] =>
  async (studio, form) => {
    const changes = read(form, { ...fieldsOf(changeApp, form) })
    const saved = await act(studio, operationFor(studio, changeApp, changePack), {}, changes)
    return t('Saved. {value}', { value: String(saved['note']) })
  }

/** A box that is not checked sends nothing. */
const details = saveChanges((form, fields) => ({ ...fields, comments: form.has('comments') }))

/** A box that is not checked sends nothing. */
const live = saveChanges((form) => ({ live: form.has('live') }))

/** The form shows its field for the price whatever the terms. */
const remixTerms = saveChanges((_, { remix, priceRemix }) =>
  remix === 'price' ? { remix, priceRemix } : { remix },
)

/** Starts a build of the next version at the shown price. */
const change: StudioAction['work'] = async (studio, form) => {
  const prompt = form.text('prompt').replaceAll('\r\n', '\n').trim()
  const maxCredits = Number(form.text('max'))
  await act(studio, publishVersion, {}, { prompt, maxCredits }, readRef(form))
}

/** Publishes the edited page as the next version. The same form publishes once. */
const page: StudioAction['work'] = async (studio, form) => {
  const text = form.text('html').replaceAll('\r\n', '\n')
  const html = text.trim() && text
  const note = form.text('note').trim()
  const body = { html, ...(note && { note }) }
  const published = await act(studio, publishVersion, {}, body, readRef(form))
  return t('Published. {value}', { value: String(published['note'] ?? '') })
}

/** Returns the name of an uploaded file in the characters of asset names. */
const fileName = (file: File): string =>
  file.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .slice(-64)

/** Actions by the last segment of their path, /studio/{id}/{name}. */
const actions: Record<string, StudioAction> = {
  ...packActions,
  change: { tab: 'build', work: change },
  cancel: {
    tab: 'build',
    async work(studio, form) {
      await act(studio, cancelJob, { id: form.text('job') })
    },
  },
  page: { tab: 'code', work: page },
  restore: {
    tab: 'versions',
    async work(studio, form) {
      const version = Number(form.text('version'))
      await act(studio, operationFor(studio, restoreVersion, restorePackVersion), { version })
    },
  },
  upload: {
    tab: 'assets',
    async work(studio, form) {
      const file = form.file('file') ?? rejectRequest(t('Choose a file.'))
      const name = form.text('name').trim() || fileName(file)
      await act(studio, putAsset, { name }, { data: await dataUrlOf(file) })
    },
  },
  remove: {
    tab: 'assets',
    async work(studio, form) {
      await act(studio, deleteAsset, { name: form.text('name') })
    },
  },
  cover: { tab: 'listing', work: changeCover },
  screenshot: { tab: 'listing', work: changeScreenshot },
  icon: { tab: 'listing', work: changeIcon },
  details: { tab: 'listing', work: details },
  live: { tab: 'listing', work: live },
  audience: { tab: 'access', work: saveAudience },
  link: { tab: 'access', work: addLink },
  revoke: { tab: 'access', work: endLink },
  explore: { tab: 'listing', work: saveChanges((_, { store }) => ({ store })) },
  remix: { tab: 'listing', work: remixTerms },
  delete: {
    tab: 'listing',
    async work(studio) {
      await act(studio, operationFor(studio, deleteApp, deletePack))
    },
  },
  undelete: {
    tab: '',
    async work(studio) {
      await act(studio, operationFor(studio, restoreApp, restorePack))
    },
  },
  rescan: {
    tab: 'safety',
    async work(studio) {
      await act(studio, rescanApp)
      return t('Safety check completed.')
    },
  },
  appeal: {
    tab: 'safety',
    async work(studio, form) {
      await act(studio, appeal, {}, fieldsOf(appeal, form))
    },
  },
}

export const findAction = (name: string): StudioAction | undefined => lookUp(actions, name)

/** Throws `not_found`. */
export function getAction(name: string): StudioAction {
  const found = findAction(name)
  if (found) return found
  throw new ApiError('not_found', { what: 'page', see: t('Use the tabs of the app.') })
}
