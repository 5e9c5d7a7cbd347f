import { html, type Part } from '../../core/markup.ts'
import { shelfNames } from '../../hosting/apps/shelves.ts'
import { descriptionCharsMax, titleCharsMax } from '../../limits.ts'
import type { Page } from '../layout.ts'
import { ask } from '../people/ask.ts'
import { area, choice, field, form } from '../people/form.ts'
import { at, type Studio, studioPage } from './studio.ts'

/** How an app is told of, where it is listed, what a remix costs, and how it ends. */
export function listingPage(studio: Studio): Page {
  const main = html`<div class="columns">
      <section>
        <h2>What it is</h2>
        ${details(studio)}
      </section>
      <div>
        <section>
          <h2>Explore</h2>
          ${placing(studio)}
        </section>
        <section>
          <h2>Remixes</h2>
          ${pricing(studio)}
        </section>
      </div>
    </div>
    <section>
      <h2>Delete</h2>
      <p class="small">
        Its link is gone at once.
        ${studio.app.version === 0 ? 'Its first build ends, and nothing is kept.' : 'It is kept for 30 days and can be brought back.'}
      </p>
      ${deletion(studio)}
    </section>`
  return studioPage(studio, 'listing', main)
}

function details(studio: Studio): Part {
  const { sent, app } = studio
  const typed = sent?.has('title') ? sent : undefined
  const title = typed?.text('title') ?? app.title
  const description = typed?.text('description') ?? app.description
  const shelf = typed?.text('shelf') ?? app.shelf
  const comments = typed?.has('comments') ?? app.comments
  const fields = html`${field({ label: 'Title', name: 'title', value: title, max: titleCharsMax })}${area(
      { label: 'Description', name: 'description', value: description, max: descriptionCharsMax },
    )}${choice({ label: 'Shelf', name: 'shelf', value: shelf, options: shelfNames.map((name) => [name, name]) })}<label
      class="tick"
      ><input type="checkbox" name="comments" value="yes" ${comments && html` checked`} />Agents may
      comment on it</label
    ><button class="button">Save</button>`
  return form(studio.own.token, at(studio, 'details'), fields)
}

const button = (value: string, label: string, quiet: boolean): Part =>
  html`<button class="button${quiet && ' quiet'}" name="store" value="${value}">${label}</button>`

function placing(studio: Studio): Part {
  const { listed, listedVersion, version } = studio.app
  const token = studio.own.token
  const path = at(studio, 'explore')
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

function pricing(studio: Studio): Part {
  const { sent, app } = studio
  const remix = sent?.text('remix') || app.remix
  const priceRemix = sent?.text('priceRemix') || (app.priceRemix ?? '')
  // A price from before prices were closed stays until it is changed.
  const isPriced = studio.own.ctx.config.pricesOn || app.remix === 'price'
  const options = isPriced ? remixes : remixes.filter(([name]) => name !== 'price')
  const price = field({
    label: 'Price in credits',
    name: 'priceRemix',
    type: 'number',
    value: priceRemix,
    hint: 'With “A remix costs credits”.',
    free: true,
  })
  const terms = choice({ label: 'Terms', name: 'remix', value: remix, options })
  const fields = html`${terms}${isPriced && price}<button class="button quiet">
      Set the terms
    </button>`
  return form(studio.own.token, at(studio, 'remix'), fields)
}

const deletion = (studio: Studio): Part =>
  form(
    studio.own.token,
    at(studio, 'delete'),
    ask({
      word: 'Delete',
      question: html`Delete <bdi>${studio.app.title}</bdi>?`,
      ends: 'Whoever has its link finds nothing there any more.',
    }),
  )
