import { publishVersion } from '../../apps/versions/operations.ts'
import { html } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { htmlBytesMax } from '../../kernel/limits.ts'
import { t } from '../../kernel/words/message.ts'
import { button, hiddenField, postForm, readRef } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { readHtml } from './build.ts'
import { appPreview } from './preview.ts'
import { act, noteField, type Studio, type StudioAction, studioPage, studioPath } from './studio.ts'

/** Renders the latest version in an editor beside its preview. `?line=` opens a line. */
export async function codePage(studio: Studio, query: URLSearchParams): Promise<Page> {
  const { app, req, submitted } = studio
  if (app.version === 0) {
    const empty = emptyState(t('No page yet'), t('The page appears when the build succeeds.'))
    return studioPage(studio, 'code', empty)
  }
  const edited = submitted?.has('html') ? submitted : undefined
  const text = edited?.text('html') ?? (await readHtml(studio)).html
  const fields = html`<code-editor data-line="${query.get('line') ?? ''}"
      ><label class="field"
        ><span>Page</span
        ><textarea
          name="html"
          rows="24"
          wrap="off"
          spellcheck="false"
          autocapitalize="none"
          autocomplete="off"
          required
          maxlength="${htmlBytesMax}"
        >
${text}</textarea>
      </label></code-editor
    >
    <div class="publish-line">
      ${noteField(edited?.text('note'))}${hiddenField('ref', newId())}${button(t('Publish version {version}', { version: app.version + 1 }))}
    </div>`
  const at = `/a/${app.id}/versions/${app.version}`
  const main = html`<div class="workbench code">
    <section aria-label="Editor">
      ${postForm(req.token, studioPath(studio, 'page'), fields, 'code-form', 'multipart/form-data')}
    </section>
    <div class="result">
      ${appPreview(req.ctx, { title: app.title, at }, html`<a href="${at}">Open version ${app.version}</a>`)}
    </div>
  </div>`
  return {
    ...studioPage(studio, 'code', main),
    isWide: true,
    scripts: ['app-preview.js', 'code-editor.js'],
    frames: true,
  }
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

export const codeActions: Record<string, StudioAction> = {
  page: { tab: 'code', fileBytesMax: 3 * htmlBytesMax, work: page },
}
