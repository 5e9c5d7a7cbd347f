import {
  deleteCover,
  deleteScreenshot,
  putCover,
  putScreenshot,
} from '../../apps/covers/operations.ts'
import { presentCover } from '../../apps/covers/present-cover.ts'
import { screenshotsMax } from '../../apps/covers/schemas.ts'
import { listScreenshots } from '../../apps/covers/screenshots.ts'
import { quoteIcon } from '../../apps/icon/icon.ts'
import { deleteIcon, putIcon } from '../../apps/icon/operations.ts'
import { iconUrl } from '../../apps/present.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { t } from '../../kernel/words/message.ts'
import { section } from '../components.ts'
import { formatAmount } from '../format.ts'
import { button, type Form, hiddenField, postForm, readImage, readRef } from '../forms.ts'
import { imagePath } from '../paths.ts'
import { itemCover } from '../tiles.ts'
import { act, type Studio, studioPath } from './studio.ts'

/** A multipart form that takes a dropped file. */
export const dropForm = (token: string, action: string, fields: Part): Html =>
  html`<file-drop>${postForm(token, action, fields, 'form', 'multipart/form-data')}</file-drop>`

const imageField = (label: string): Part =>
  html`<label class="field"
    ><span>${label}</span
    ><input type="file" name="file" accept="image/png,image/jpeg,image/webp" required
  /></label>`

/** The forms of the cover and the screenshots of an app. */
export async function renderImageForms(studio: Studio): Promise<Part> {
  const { app, req } = studio
  const { ctx, token } = req
  const [cover, icon] = [presentCover(ctx, app), iconUrl(ctx, app)]
  const send = (name: string, fields: Part): Part =>
    postForm(token, studioPath(studio, name), fields, 'form', 'multipart/form-data')
  const drop = (name: string, fields: Part): Part =>
    dropForm(token, studioPath(studio, name), fields)
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
  return html`<section class="pictures">
    <h2>Cover and screenshots</h2>
    <div class="cover-preview">${itemCover(ctx, { ...app, icon, cover })}</div>
    <p class="small">
      ${app.coverGiven ? t('You uploaded this cover.') : t('The cover is captured from each version while it is played for two seconds.')}
      PNG, JPEG or WebP, cropped to 16:10.
    </p>
    ${drop('cover', html`${imageField(t('Cover'))}${button(t('Upload cover'), 'quiet')}`)}
    ${app.coverGiven && send('cover', reset)}
    ${
      screenshots.length > 0 &&
      html`<ul class="screenshots">
        ${screenshots}
      </ul>`
    }
    ${
      free !== undefined &&
      drop(
        'screenshot',
        html`${hiddenField('position', free)}${imageField(t('Screenshot {free} of {screenshotsMax}', { free, screenshotsMax }))}${button(t('Upload screenshot'), 'quiet')}`,
      )
    }
  </section>`
}

/** Uploads a cover, or returns to captured ones. */
export async function changeCover(studio: Studio, submitted: Form): Promise<string> {
  if (submitted.has('reset')) {
    await act(studio, deleteCover)
    return t('Removed. The app shows a cover that is captured from it.')
  }
  await act(studio, putCover, {}, { image: await readImage(submitted) })
  return t('The cover is live.')
}

/** Uploads or removes a screenshot. */
export async function changeScreenshot(studio: Studio, submitted: Form): Promise<string> {
  const place = { position: submitted.text('position') }
  if (submitted.has('remove')) {
    await act(studio, deleteScreenshot, place)
    return t('Screenshot removed.')
  }
  await act(studio, putScreenshot, place, { image: await readImage(submitted) })
  return t('The screenshot is live.')
}

/** The forms that upload, generate and remove the icon of an item. */
export function iconForms(studio: Studio): Part {
  const { app, req } = studio
  const { ctx, token } = req
  const [url, price] = [iconUrl(ctx, app), quoteIcon(ctx, app)]
  const path = studioPath(studio, 'icon')
  const upload = html`${imageField(t('Icon'))}${button(t('Upload icon'), 'quiet')}`
  const label = t('Generate icon · {part}', {
    part:
      price === 0 ? 'free' : t('at most {price}', { price: formatAmount(price ?? 0, 'credit') }),
  })
  const make = html`${hiddenField('max', price ?? 0)}${hiddenField('ref', newId())}${button(label, 'quiet slim')}`
  const remove = html`${hiddenField('remove', 'yes')}${button(t('Remove icon'), 'quiet slim danger')}`
  return section(
    t('Icon'),
    html`${
        url !== null &&
        html`<img
          class="icon-preview"
          src="${imagePath(ctx, url)}"
          alt="Icon"
          width="96"
          height="96"
        />`
      }
      <p class="small">
        ${url === null ? t('There is no icon.') : t('Feeds and link previews show it.')} PNG, JPEG
        or WebP, cropped to a square.
      </p>
      ${dropForm(token, path, upload)}
      <div class="actions">
        ${price !== undefined && postForm(token, path, make, 'inline')}${url !== null && postForm(token, path, remove, 'inline')}
      </div>`,
  )
}

/** Uploads, generates or removes the icon. The same form generates one icon only. */
export async function changeIcon(studio: Studio, submitted: Form): Promise<string> {
  if (submitted.has('remove')) {
    await act(studio, deleteIcon)
    return t('Icon removed.')
  }
  if (!submitted.has('max')) {
    await act(studio, putIcon, {}, { image: await readImage(submitted) })
    return t('The icon is live.')
  }
  const price = quoteIcon(studio.req.ctx, studio.app)
  if (price !== undefined && price > Number(submitted.text('max'))) {
    rejectRequest(t('The price has changed. Check it and try again.'))
  }
  await act(studio, putIcon, {}, { make: true }, readRef(submitted))
  return t('The icon is live.')
}
