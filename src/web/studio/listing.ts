import { html, type Part } from '../../core/markup.ts'
import { shelfNames } from '../../hosting/apps/shelves.ts'
import { descriptionCharsMax, titleCharsMax } from '../../limits.ts'
import { confirmDialog } from '../confirm-dialog.ts'
import { form, inputField, selectField, textArea } from '../forms.ts'
import type { Page } from '../layout.ts'
import { type Studio, studioPage, studioPath } from './studio.ts'

/** How an app is told of, where it is listed, what a remix costs, and how it ends. */
export function listingPage(studio: Studio): Page {
  const main = html`<div class="columns">
      <section>
        <h2>What it is</h2>
        ${detailsForm(studio)}
      </section>
      <div>
        <section>
          <h2>Explore</h2>
          ${exploreForm(studio)}
        </section>
        <section>
          <h2>Remixes</h2>
          ${remixForm(studio)}
        </section>
      </div>
    </div>
    <section>
      <h2>Delete</h2>
      <p class="small">
        Its link is gone at once.
        ${studio.app.version === 0 ? 'Its first build ends, and nothing is kept.' : 'It is kept for 30 days and can be brought back.'}
      </p>
      ${deleteForm(studio)}
    </section>`
  return studioPage(studio, 'listing', main)
}

function detailsForm(studio: Studio): Part {
  const { submitted, app } = studio
  const typed = submitted?.has('title') ? submitted : undefined
  const title = typed?.text('title') ?? app.title
  const description = typed?.text('description') ?? app.description
  const shelf = typed?.text('shelf') ?? app.shelf
  const comments = typed?.has('comments') ?? app.comments
  const fields = html`${inputField({ label: 'Title', name: 'title', value: title, max: titleCharsMax })}${textArea(
      { label: 'Description', name: 'description', value: description, max: descriptionCharsMax },
    )}${selectField({ label: 'Shelf', name: 'shelf', value: shelf, options: shelfNames.map((name) => [name, name]) })}<label
      class="tick"
      ><input type="checkbox" name="comments" value="yes" ${comments && html` checked`} />Agents may
      comment on it</label
    ><button class="button">Save</button>`
  return form(studio.signedIn.token, studioPath(studio, 'details'), fields)
}

const button = (value: string, label: string, quiet: boolean): Part =>
  html`<button class="button${quiet && ' quiet'}" name="store" value="${value}">${label}</button>`

function exploreForm(studio: Studio): Part {
  const { listed, listedVersion, version } = studio.app
  const token = studio.signedIn.token
  const path = studioPath(studio, 'explore')
  if (listed === 'off') {
    return html`<p class="small">
        It is not on Explore. Its page is read by the safety check before it goes there.
      </p>
      ${form(token, path, button('yes', 'Put it on Explore', false))}`
  }
  const isBehind = listedVersion !== version
  const words =
    listed === 'pending'
      ? 'It goes on Explore again once somebody has looked into what was reported of it.'
      : `It is on Explore with version ${listedVersion}.`
  return html`<p class="small">${words}</p>
    ${form(token, path, html`${isBehind && button('yes', `Show version ${version} there`, false)}${button('no', 'Take it off Explore', true)}`)}`
}

const remixes = [
  ['off', 'Nobody may remix it'],
  ['free', 'A remix is free'],
  ['price', 'A remix costs credits'],
] as const

function remixForm(studio: Studio): Part {
  const { submitted, app } = studio
  const remix = submitted?.text('remix') || app.remix
  const priceRemix = submitted?.text('priceRemix') || (app.priceRemix ?? '')
  // A price from before prices were closed stays until it is changed.
  const isPriced = studio.signedIn.ctx.config.pricesOn || app.remix === 'price'
  const options = isPriced ? remixes : remixes.filter(([name]) => name !== 'price')
  const price = inputField({
    label: 'Price in credits',
    name: 'priceRemix',
    type: 'number',
    value: priceRemix,
    hint: 'With “A remix costs credits”.',
    isOptional: true,
  })
  const terms = selectField({ label: 'Terms', name: 'remix', value: remix, options })
  const fields = html`${terms}${isPriced && price}<button class="button quiet">
      Set the terms
    </button>`
  return form(studio.signedIn.token, studioPath(studio, 'remix'), fields)
}

const deleteForm = (studio: Studio): Part =>
  form(
    studio.signedIn.token,
    studioPath(studio, 'delete'),
    confirmDialog({
      label: 'Delete',
      question: html`Delete <bdi>${studio.app.title}</bdi>?`,
      consequence: 'Whoever has its link finds nothing there any more.',
    }),
  )
