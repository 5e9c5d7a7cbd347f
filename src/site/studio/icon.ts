import { quoteIcon } from '../../apps/icon/icon.ts'
import { deleteIcon, putIcon } from '../../apps/icon/operations.ts'
import { iconUrl } from '../../apps/present.ts'
import { html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { section } from '../components.ts'
import { formatAmount } from '../format.ts'
import { button, type Form, hiddenField, postForm, readRef, rejectForm } from '../forms.ts'
import { imagePath } from '../tiles.ts'
import { dropForm, imageField, readImage } from './images.ts'
import { act, type Studio, studioPath } from './studio.ts'

/** The forms that upload, generate and remove the icon of an item. */
export function iconForms(studio: Studio): Part {
  const { app, req } = studio
  const { ctx, token } = req
  const [url, price] = [iconUrl(ctx, app), quoteIcon(ctx, app)]
  const path = studioPath(studio, 'icon')
  const upload = html`${imageField('Icon')}${button('Upload icon', 'quiet')}`
  const label = `Generate icon · ${price === 0 ? 'free' : `at most ${formatAmount(price ?? 0, 'credit')}`}`
  const make = html`${hiddenField('max', price ?? 0)}${hiddenField('ref', newId())}${button(label, 'quiet slim')}`
  const remove = html`${hiddenField('remove', 'yes')}${button('Remove icon', 'quiet slim danger')}`
  return section(
    'Icon',
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
        ${url === null ? 'There is no icon.' : 'Feeds and link previews show it.'} PNG, JPEG or
        WebP, cropped to a square.
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
    return 'Icon removed.'
  }
  if (!submitted.has('max')) {
    await act(studio, putIcon, {}, { image: await readImage(submitted) })
    return 'The icon is live.'
  }
  const price = quoteIcon(studio.req.ctx, studio.app)
  if (price !== undefined && price > Number(submitted.text('max'))) {
    rejectForm('The price has changed. Check it and try again.')
  }
  await act(studio, putIcon, {}, { make: true }, readRef(submitted))
  return 'The icon is live.'
}
