import * as apps from '../../apps/apps.ts'
import {
  type BuildRecord,
  findUsualPrice,
  listBuilds,
  quoteBuild,
} from '../../apps/builds/builds.ts'
import { cancelJob } from '../../apps/jobs/operations.ts'
import { requireAppKind } from '../../apps/kinds.ts'
import { readPage } from '../../apps/page-content.ts'
import { publishVersion } from '../../apps/versions/operations.ts'
import { presentVersion } from '../../apps/versions/versions.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { buildPromptCharsMax } from '../../kernel/limits.ts'
import { toCredits } from '../../kernel/money.ts'
import { second } from '../../kernel/time.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { versionOrigins } from '../components.ts'
import { formatAmount, renderAge } from '../format.ts'
import { button, hiddenField, postForm, readRef } from '../forms.ts'
import type { Page } from '../layout.ts'
import { priceNote, promptField } from '../new/new.ts'
import { appPreview } from './preview.ts'
import { act, type Studio, type StudioAction, studioPage, studioPath } from './studio.ts'

/** The newest builds of the conversation. */
const buildsShown = 20
/** The versions below it. */
const versionsShown = 5
/** The interval of reloads without scripts, in seconds. */
const reloadSeconds = 3

const steps = {
  planning: msg('Plan the app'),
  writing: msg('Write the page'),
  checking: msg('Check it in a browser'),
  assets: msg('Make images and sounds'),
  publishing: msg('Publish the version'),
} as const

/** Renders the conversation of an app's builds beside its preview. */
export async function buildPage(studio: Studio): Promise<Page> {
  const { app, agent, req } = studio
  const builds = (await listBuilds(req.ctx, agent, app.id, buildsShown)).toReversed()
  const isBuilding = builds.some(({ job }) => job.ended === null)
  const main = html`<div class="workbench">
    <section class="conversation" aria-label="Conversation">
      ${
        builds.length > 0
          ? html`<ol class="turns">
              ${builds.map((build) => buildTurn(studio, build))}
            </ol>`
          : html`<p class="small">Describe a change, and a model edits the page.</p>`
      }
      ${!isBuilding && (await changeForm(studio))} ${await latestVersions(studio)}
    </section>
    <div class="result">${result(studio)}</div>
  </div>`
  return {
    ...studioPage(studio, 'build', main),
    isWide: true,
    scripts: ['app-preview.js', 'build-steps.js'],
    frames: true,
    ...(isBuilding && { reloadSeconds }),
  }
}

const buildTurn = (studio: Studio, build: BuildRecord): Html =>
  html`<li>
    <p class="prompt"><bdi>${build.input.prompt}</bdi></p>
    ${build.job.ended === null ? progress(studio, build) : outcome(build)}
  </li>`

/** The versions that were published last, with a link to all. */
async function latestVersions(studio: Studio): Promise<Part> {
  const { app, req } = studio
  const versions = await apps.listVersions(req.ctx, app, versionsShown)
  const item = (row: apps.Version): Html => {
    const { version, created, via, note } = presentVersion(row)
    return html`<li>
      <a href="/a/${app.id}/versions/${version}">Version ${version}</a>
      <span class="small">${renderAge(created, req.ctx.clock.now())} · ${versionOrigins[via]}</span>
      ${note !== '' && html`<p class="small"><bdi>${note}</bdi></p>`}
    </li>`
  }
  return (
    versions.length > 0 &&
    html`<div class="latest">
      <div class="head">
        <h2>Latest versions</h2>
        <a href="${studioPath(studio, 'versions')}">All versions</a>
      </div>
      <ol class="rows">
        ${versions.map(item)}
      </ol>
    </div>`
  )
}

/** The steps of a running build; its script follows them. */
function progress(studio: Studio, { job }: BuildRecord): Html {
  const { ctx, token } = studio.req
  const names = Object.keys(steps)
  const at = names.indexOf(job.step ?? '')
  const elapsed = Math.max(0, Math.floor((ctx.clock.now() - job.created) / second))
  return html`<build-steps
      class="build-steps"
      data-events="${studioPath(studio, 'build')}/events"
      data-seconds="${elapsed}"
    >
      <p class="small">
        <span role="status"
          >${job.step === null ? t('Waiting for a place …') : t('Building …')}</span
        >
        <time></time> · at most ${formatAmount(toCredits(job.price), 'credit')}
      </p>
      <ol>
        ${Object.entries(steps).map(
          ([name, label], index) =>
            html`<li
              data-step="${name}"
              ${index < at && html` class="done"`}
              ${index === at && html` aria-current="step"`}
            >
              ${label}
            </li>`,
        )}
      </ol>
    </build-steps>
    ${postForm(token, studioPath(studio, 'cancel'), html`${hiddenField('job', job.id)}${button(t('Cancel'), 'quiet slim')}`, 'act')}`
}

function outcome({ job: { state, result: made, charged, error } }: BuildRecord): Html {
  if (state === 'done') {
    return html`<p class="small">
      Version ${Number(made?.['version'] ?? 0)} · ${formatAmount(toCredits(charged), 'credit')}
    </p>`
  }
  return state === 'cancelled'
    ? html`<p class="small">Canceled. Nothing was charged.</p>`
    : html`<p class="alert">
        <bdi>${error?.error ?? t('The build failed. Nothing was charged.')}</bdi>
      </p>`
}

/** The field for the next change, with its maximum price. */
async function changeForm(studio: Studio): Promise<Part> {
  const { app, req, submitted, message } = studio
  const { html: page } = await readHtml(studio)
  const prompt = submitted?.has('prompt') ? submitted.text('prompt') : undefined
  const price = quoteBuild(req.ctx, requireAppKind(app), { prompt, page })
  if (price === undefined) return undefined
  const error = prompt === undefined ? undefined : message
  const field = promptField({
    value: prompt,
    label: t('Change something'),
    placeholder: t('Change something: make it blue, faster, call it …'),
    error,
  })
  const send = html`${hiddenField('max', price)}${hiddenField('ref', newId())}${button(t('Change it'))}`
  const fields = html`${field}
    <div class="prompt-send">${priceNote(price, await findUsualPrice(req.ctx))}${send}</div>`
  return postForm(req.token, studioPath(studio, 'change'), fields, 'prompt-box')
}

/** Reads the latest page of a built app. */
export async function readHtml({ app, req: { ctx } }: Studio): Promise<{ html: string }> {
  const page = await readPage(ctx, await apps.getVersion(ctx, app.id, app.version))
  return { html: new TextDecoder().decode(page.identity) }
}

function result(studio: Studio): Part {
  const { app, req } = studio
  if (app.version === 0) {
    return html`<div class="empty"><p>The app appears here when it is built.</p></div>`
  }
  const at = `/a/${app.id}/versions/${app.version}`
  const publish = html`${hiddenField('store', 'yes')}${button(t('Publish on Explore'))}`
  return html`${appPreview(req.ctx, { title: app.title, at }, html`<a href="${at}">Open version ${app.version}</a>`)}
    <div class="actions">
      ${app.listed === 'off' && postForm(req.token, studioPath(studio, 'explore'), publish, 'act')}
    </div>`
}

/** Starts a build of the next version at the shown price. */
const change: StudioAction['work'] = async (studio, form) => {
  const prompt = form.text('prompt').replaceAll('\r\n', '\n').trim()
  const maxCredits = Number(form.text('max'))
  await act(studio, publishVersion, {}, { prompt, maxCredits }, readRef(form))
}

const cancel: StudioAction['work'] = async (studio, form) => {
  await act(studio, cancelJob, { id: form.text('job') })
}

/** Characters of a prompt arrive escaped. */
export const buildActions: Record<string, StudioAction> = {
  change: { tab: 'build', fileBytesMax: 9 * buildPromptCharsMax, work: change },
  cancel: { tab: 'build', work: cancel },
}
