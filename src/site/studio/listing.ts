import { isPackKind, shelfNames } from '../../apps/kinds.ts'
import { html, type Part } from '../../kernel/html.ts'
import { descriptionCharsMax, titleCharsMax } from '../../kernel/limits.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { section } from '../components.ts'
import { button, confirmDialog, inputField, postForm, selectField, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import { wireWord } from '../wire-words.ts'
import { iconForms, renderImageForms } from './images.ts'
import { type Studio, studioPage, studioPath } from './studio.ts'

/** Renders the forms for details, Explore, remixes, pictures and deletion. */
export async function listingPage(studio: Studio): Promise<Page> {
  const main = html`<div class="columns">
      ${section(t('Details'), detailsForm(studio))}
      <div>
        ${section(t('Explore'), exploreForm(studio))} ${section(t('Remixes'), remixForm(studio))}
        ${!isPackKind(studio.app.kind) && section(t('Open pages'), liveForm(studio))}
      </div>
    </div>
    ${!isPackKind(studio.app.kind) && (await renderImageForms(studio))} ${iconForms(studio)}
    ${section(
      t('Delete {kind}', { kind: wireWord(studio.app.kind) }),
      html`<p class="small">
          The link stops working immediately.
          ${studio.app.version === 0 ? t('The first build is canceled, and nothing is kept.') : t('You can restore it for 30 days.')}
        </p>
        ${deleteForm(studio)}`,
    )}`
  return { ...studioPage(studio, 'listing', main), scripts: ['file-drop.js'] }
}

const embedding = [
  ['true', msg('Other sites may show it in a frame')],
  ['false', msg('Only this site shows it')],
] as const

function detailsForm(studio: Studio): Part {
  const { submitted, app } = studio
  const typed = submitted?.has('title') ? submitted : undefined
  const title = typed?.text('title') ?? app.title
  const description = typed?.text('description') ?? app.description
  const shelf = typed?.text('shelf') ?? app.shelf
  const comments = typed?.has('comments') ?? app.comments
  const embeds = typed?.text('embeds') ?? String(app.embeds)
  const fields = html`${inputField({ label: t('Title'), name: 'title', value: title, max: titleCharsMax })}${textArea(
      {
        label: t('Description'),
        name: 'description',
        value: description,
        max: descriptionCharsMax,
      },
    )}${selectField({ label: t('Shelf'), name: 'shelf', value: shelf, options: shelfNames.map((name) => [name, wireWord(name)]) })}${!isPackKind(app.kind) && selectField({ label: t('Embedding'), name: 'embeds', value: embeds, options: embedding })}<label
      class="tick"
      ><input type="checkbox" name="comments" value="yes" ${comments && html` checked`} />Allow
      comments</label
    >${button(t('Save'))}`
  return postForm(studio.req.token, studioPath(studio, 'details'), fields)
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
function liveForm({ app, req: { token }, ...studio }: Studio): Part {
  const fields = html`<label class="tick"
      ><input type="checkbox" name="live" value="yes" ${app.live && html` checked`} />Take a new
      version at once</label
    >${button(t('Save'), 'quiet')}`
  return html`<p class="small">Otherwise an open page offers the new version to its player.</p>
    ${postForm(token, studioPath({ app, ...studio }, 'live'), fields)}`
}

const remixes = [
  ['off', msg('Remixes off')],
  ['free', msg('Free remixes')],
  ['price', msg('Paid remixes')],
] as const

function remixForm(studio: Studio): Part {
  const { submitted, app } = studio
  const remix = submitted?.text('remix') || app.remix
  const priceRemix = submitted?.text('priceRemix') || (app.priceRemix ?? '')
  // An earlier price stays after prices are turned off.
  const isPriced = studio.req.ctx.config.pricesOn || app.remix === 'price'
  const options = isPriced ? remixes : remixes.filter(([name]) => name !== 'price')
  const price = inputField({
    label: t('Price in credits'),
    name: 'priceRemix',
    type: 'number',
    value: priceRemix,
    hint: t('Applies to paid remixes.'),
    isOptional: true,
  })
  const terms = selectField({ label: t('Who can remix'), name: 'remix', value: remix, options })
  const fields = html`${terms}${isPriced && price}${button(t('Save remix settings'), 'quiet')}`
  return postForm(studio.req.token, studioPath(studio, 'remix'), fields)
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
