import { listScreenshots } from '../../apps/covers/covers.ts'
import {
  deleteCover,
  deleteScreenshot,
  putCover,
  putScreenshot,
} from '../../apps/covers/operations.ts'
import { presentCover } from '../../apps/covers/present-cover.ts'
import { screenshotsMax } from '../../apps/covers/schemas.ts'
import { quoteIcon } from '../../apps/icon/icon.ts'
import { deleteIcon, putIcon } from '../../apps/icon/operations.ts'
import { isPackKind, shelfNames } from '../../apps/kinds.ts'
import { changeApp, deleteApp } from '../../apps/operations.ts'
import { changePack, deletePack } from '../../apps/packs/operations.ts'
import { iconUrl } from '../../apps/present.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { descriptionCharsMax, iconBytesMax, titleCharsMax } from '../../kernel/limits.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { section } from '../components.ts'
import { fieldsOf } from '../form.ts'
import { formatAmount } from '../format.ts'
import {
  button,
  confirmDialog,
  type Form,
  hiddenField,
  inputField,
  postForm,
  readRef,
  selectField,
  textArea,
} from '../forms.ts'
import { imageTile, readImage } from '../image-form.ts'
import type { Page } from '../layout.ts'
import { imagePath } from '../paths.ts'
import { itemCover } from '../tiles.ts'
import { wireWord } from '../wire-words.ts'
import {
  act,
  operationFor,
  type Studio,
  type StudioAction,
  studioPage,
  studioPath,
} from './studio.ts'

/** Renders Explore, the settings with one button beside the pictures, and deletion. */
export async function listingPage(studio: Studio): Promise<Page> {
  const { app, req } = studio
  const isPack = isPackKind(app.kind)
  const settings = html`${hiddenField('shown', shownTerms(studio))}${section(t('Details'), detailFields(studio))}
    ${section(t('Remixes'), remixFields(studio))}
    ${!isPack && section(t('Open pages'), liveFields(studio))}
    <unsaved-changes ${typedIn(studio) && html` data-changed`}>
      ${button(t('Save'))}<button type="reset" class="button quiet" hidden>Discard</button>
      <p aria-live="polite"><span hidden>Unsaved changes</span></p>
    </unsaved-changes>`
  const main = html`<div class="listing">
      <div>
        ${section(t('Explore'), exploreForm(studio))}
        ${postForm(req.token, studioPath(studio, 'details'), settings, '')}
      </div>
      <div class="pictures">
        ${!isPack && (await renderImageForms(studio))} ${iconForms(studio)}
      </div>
    </div>
    ${section(
      t('Delete {kind}', { kind: wireWord(app.kind) }),
      html`<p class="small">
          The link stops working immediately.
          ${app.version === 0 ? t('The first build is canceled, and nothing is kept.') : t('You can restore it for 30 days.')}
        </p>
        ${deleteForm(studio)}`,
    )}`
  return {
    ...studioPage(studio, 'listing', main),
    scripts: ['file-drop.js', 'unsaved-changes.js'],
  }
}

/** The settings that the form shows, as it sends them. A box that is not checked sends nothing. */
const termsOf = ({ app }: Studio): Record<string, string> => ({
  title: app.title,
  description: app.description,
  shelf: app.shelf,
  remix: app.remix,
  priceRemix: String(app.priceRemix ?? ''),
  comments: app.comments ? 'yes' : '',
  ...(!isPackKind(app.kind) && { embeds: String(app.embeds), live: app.live ? 'yes' : '' }),
})

/** The settings that the page showed first: a form with an error still changes those. */
const shownTerms = (studio: Studio): string =>
  typedIn(studio)?.text('shown') || JSON.stringify(termsOf(studio))

const embedding = [
  ['true', msg('Other sites may show it in a frame')],
  ['false', msg('Only this site shows it')],
] as const

/** The values of the settings: those of a form with an error, or those of the item. */
const typedIn = ({ submitted }: Studio): Form | undefined =>
  submitted?.has('title') ? submitted : undefined

function detailFields(studio: Studio): Part {
  const { app } = studio
  const typed = typedIn(studio)
  const title = typed?.text('title') ?? app.title
  const description = typed?.text('description') ?? app.description
  const shelf = typed?.text('shelf') ?? app.shelf
  const comments = typed?.has('comments') ?? app.comments
  const embeds = typed?.text('embeds') ?? String(app.embeds)
  return html`<div class="form">
    ${inputField({ label: t('Title'), name: 'title', value: title, max: titleCharsMax })}${textArea(
      {
        label: t('Description'),
        name: 'description',
        value: description,
        max: descriptionCharsMax,
      },
    )}${selectField({ label: t('Shelf'), name: 'shelf', value: shelf, options: shelfNames.map((name) => [name, wireWord(name)]) })}${!isPackKind(app.kind) && selectField({ label: t('Embedding on other sites'), name: 'embeds', value: embeds, options: embedding })}<label
      class="tick"
      ><input type="checkbox" name="comments" value="yes" ${comments && html` checked`} />Allow
      comments</label
    >
  </div>`
}

function exploreForm(studio: Studio): Part {
  const { listed, listedVersion, version } = studio.app
  const token = studio.req.token
  const path = studioPath(studio, 'explore')
  const list = { name: 'store', value: 'yes' }
  if (listed === 'off') {
    return html`<p class="small">
        This ${wireWord(studio.app.kind)} is not listed on Explore. Listing it runs the safety check
        first.
      </p>
      ${postForm(token, path, button(t('List on Explore'), '', list))}`
  }
  const isBehind = listedVersion !== version
  const status =
    listed === 'pending'
      ? t('It returns to Explore when the operator has reviewed the reports.')
      : t('Version {version} is listed on Explore.', { version: listedVersion ?? version })
  return html`<p class="small">${status}</p>
    ${postForm(token, path, html`${isBehind && button(t('List version {version}', { version }), '', list)}${button(t('Remove from Explore'), 'quiet', { name: 'store', value: 'no' })}`)}`
}

/** The choice what an open page does with a new version. */
function liveFields(studio: Studio): Part {
  const live = typedIn(studio)?.has('live') ?? studio.app.live
  return html`<label class="tick"
      ><input type="checkbox" name="live" value="yes" ${live && html` checked`} />Take a new version
      at once</label
    >
    <p class="small">Otherwise an open page offers the new version to its player.</p>`
}

const remixes = [
  ['off', msg('Remixes off')],
  ['free', msg('Free remixes')],
  ['price', msg('Paid remixes')],
] as const

function remixFields(studio: Studio): Part {
  const { app } = studio
  const typed = typedIn(studio)
  const remix = typed?.text('remix') || app.remix
  const priceRemix = typed?.text('priceRemix') || (app.priceRemix ?? '')
  // An earlier price stays after prices are turned off.
  const isPriced = studio.req.ctx.config.pricesOn || app.remix === 'price'
  const options = isPriced ? remixes : remixes.filter(([name]) => name !== 'price')
  const price = inputField({
    label: t('Price in credits'),
    name: 'priceRemix',
    type: 'number',
    value: priceRemix,
    isOptional: true,
  })
  const terms = selectField({ label: t('Who can remix'), name: 'remix', value: remix, options })
  return html`<div class="form">
    ${terms}${isPriced && html`<div class="paid-only">${price}</div>`}
  </div>`
}

const deleteForm = (studio: Studio): Part =>
  postForm(
    studio.req.token,
    studioPath(studio, 'delete'),
    confirmDialog({
      label: t('Delete {kind}', { kind: wireWord(studio.app.kind) }),
      question: html`Delete <bdi>${studio.app.title}</bdi>?`,
      consequence: t('Its link stops working immediately.'),
    }),
  )

/** Renders the tiles of the cover and the screenshots of an app. */
async function renderImageForms(studio: Studio): Promise<Part> {
  const { app, req } = studio
  const { ctx, token } = req
  const [cover, icon] = [presentCover(ctx, app), iconUrl(ctx, app)]
  const send = (name: string, fields: Part): Part =>
    postForm(token, studioPath(studio, name), fields, 'act', 'multipart/form-data')
  const reset = html`${hiddenField('reset', 'yes')}${button(t('Use a captured cover'), 'quiet slim')}`
  const all = await listScreenshots(ctx, app.id)
  const taken = new Set(all.map(({ position }) => position))
  const free = Array.from({ length: screenshotsMax }, (_, at) => at + 1).find(
    (position) => !taken.has(position),
  )
  const screenshots = all.map(
    ({ position, small }) =>
      html`<li>
        <img
          src="${imagePath(ctx, small)}"
          alt="Screenshot ${position}"
          width="480"
          height="300"
          loading="lazy"
        />
        ${send('screenshot', html`${hiddenField('position', position)}${hiddenField('remove', 'yes')}${button(html`Remove<span class="visually-hidden"> screenshot ${position}</span>`, 'quiet slim danger')}`)}
      </li>`,
  )
  return html`<section>
      <h2>Cover</h2>
      ${imageTile(token, studioPath(studio, 'cover'), {
        label: t('Upload cover'),
        image: itemCover(ctx, { ...app, icon, cover }),
      })}
      <p class="small">
        ${app.coverGiven ? t('You uploaded this cover.') : t('The cover is captured from each version while it is played for two seconds.')}
        PNG, JPEG or WebP, cropped to 16:10.
      </p>
      ${app.coverGiven && send('cover', reset)}
    </section>
    <section>
      <h2>Screenshots</h2>
      <ul class="screenshots">
        ${screenshots}${
          free !== undefined &&
          html`<li>
            ${imageTile(token, studioPath(studio, 'screenshot'), {
              label: t('Add screenshot {free} of {screenshotsMax}', { free, screenshotsMax }),
              fields: hiddenField('position', free),
            })}
          </li>`
        }
      </ul>
    </section>`
}

/** Uploads a cover, or returns to captured ones. */
async function changeCover(studio: Studio, submitted: Form): Promise<string> {
  if (submitted.has('reset')) {
    await act(studio, deleteCover)
    return t('Removed. The app shows a cover that is captured from it.')
  }
  await act(studio, putCover, {}, { image: await readImage(submitted) })
  return t('The cover is live.')
}

/** Uploads or removes a screenshot. */
async function changeScreenshot(studio: Studio, submitted: Form): Promise<string> {
  const place = { position: submitted.text('position') }
  if (submitted.has('remove')) {
    await act(studio, deleteScreenshot, place)
    return t('Screenshot removed.')
  }
  await act(studio, putScreenshot, place, { image: await readImage(submitted) })
  return t('The screenshot is live.')
}

/** The forms that upload, generate and remove the icon of an item. */
function iconForms(studio: Studio): Part {
  const { app, req } = studio
  const { ctx, token } = req
  const [url, price] = [iconUrl(ctx, app), quoteIcon(ctx, app)]
  const path = studioPath(studio, 'icon')
  const label = t('Generate icon · {part}', {
    part:
      price === 0 ? t('free') : t('at most {price}', { price: formatAmount(price ?? 0, 'credit') }),
  })
  const make = html`${hiddenField('max', price ?? 0)}${hiddenField('ref', newId())}${button(label, 'quiet slim')}`
  const remove = html`${hiddenField('remove', 'yes')}${button(t('Remove icon'), 'quiet slim danger')}`
  return section(
    t('Icon'),
    html`${imageTile(token, path, {
        label: t('Upload icon'),
        isSquare: true,
        image:
          url !== null &&
          html`<img src="${imagePath(ctx, url)}" alt="Icon" width="96" height="96" />`,
      })}
      <p class="small">
        ${url === null ? t('There is no icon.') : t('Feeds and link previews show it.')} PNG, JPEG
        or WebP, cropped to a square.
      </p>
      <div class="actions">
        ${price !== undefined && postForm(token, path, make, 'inline')}${url !== null && postForm(token, path, remove, 'inline')}
      </div>`,
  )
}

/** Uploads, generates or removes the icon. The same form generates one icon only. */
async function changeIcon(studio: Studio, submitted: Form): Promise<string> {
  if (submitted.has('remove')) {
    await act(studio, deleteIcon)
    return t('Icon removed.')
  }
  if (!submitted.has('max')) {
    await act(studio, putIcon, {}, { image: await readImage(submitted) })
    return t('The icon is live.')
  }
  const maxCredits = Number(submitted.text('max'))
  await act(studio, putIcon, {}, { make: true, maxCredits }, readRef(submitted))
  return t('The icon is live.')
}

/** Changes fields of an item, and returns the result on Explore. */
async function save(studio: Studio, changes: Json): Promise<string> {
  const saved = await act(studio, operationFor(studio, changeApp, changePack), {}, changes)
  return t('Saved. {value}', { value: String(saved['note']) })
}

/** Reads the settings that the page of a form showed. Throws `bad_request`. */
function readShown(form: Form): Json {
  try {
    return recordOf(JSON.parse(form.text('shown')))
  } catch {
    return rejectRequest(t('Reload the page and try again.'))
  }
}

/**
 * Saves the settings that were changed on the page: what an agent changed since it was opened
 * stays. A box that is not checked sends nothing. A price belongs to paid remixes.
 */
const saveDetails: StudioAction['work'] = async (studio, form) => {
  const shown = readShown(form)
  const isChanged = (name: string): boolean => {
    const before = shown[name]
    const text = form.text(name).replaceAll('\r\n', '\n').trim()
    return typeof before === 'string' && text !== before.trim()
  }
  const { remix, priceRemix, ...others }: Json = {
    ...fieldsOf(changeApp, form),
    comments: form.has('comments'),
    live: form.has('live'),
  }
  const isPriced = remix === 'price'
  const hasTerms = isChanged('remix') || (isPriced && isChanged('priceRemix'))
  const changes = {
    ...Object.fromEntries(Object.entries(others).filter(([name]) => isChanged(name))),
    ...(hasTerms && { remix, ...(isPriced && { priceRemix }) }),
  }
  return Object.keys(changes).length > 0 ? save(studio, changes) : t('Nothing was changed.')
}

const deleteItem: StudioAction['work'] = async (studio) => {
  await act(studio, operationFor(studio, deleteApp, deletePack))
}

export const listingActions: Record<string, StudioAction> = {
  cover: { tab: 'listing', fileBytesMax: iconBytesMax, work: changeCover },
  screenshot: { tab: 'listing', fileBytesMax: iconBytesMax, work: changeScreenshot },
  icon: { tab: 'listing', fileBytesMax: iconBytesMax, work: changeIcon },
  details: { tab: 'listing', work: saveDetails },
  explore: {
    tab: 'listing',
    work: (studio, form) => save(studio, { store: fieldsOf(changeApp, form)?.['store'] }),
  },
  delete: { tab: 'listing', work: deleteItem },
}
