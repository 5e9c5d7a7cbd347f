import { html } from '@codemirror/lang-html'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { tags } from '@lezer/highlight'
import { basicSetup, EditorView } from 'codemirror'

import { t } from '../../../public/words.ts'
import type { AppPreview } from './app-preview.island.ts'

const previewDelayMs = 700

const colors = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.tagName], color: 'light-dark(#6f3fc8, #d2a8ff)' },
    { tag: [tags.string, tags.attributeValue], color: 'light-dark(#0a5c36, #7ee2a8)' },
    { tag: [tags.attributeName, tags.propertyName], color: 'light-dark(#0550ae, #79c0ff)' },
    { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'light-dark(#953800, #ffb77c)' },
    { tag: tags.comment, color: 'light-dark(#59636e, #9aa4af)', fontStyle: 'italic' },
  ]),
)

const theme = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--paper)', color: 'var(--ink)' },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '0.8125rem', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--stage)', color: 'var(--quiet)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--tint)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'light-dark(#b6d7ff, #24476b)' },
  '.cm-panels': { backgroundColor: 'var(--stage)', color: 'var(--ink)' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search': {
    display: 'flex',
    flexWrap: 'wrap',
    alignItems: 'center',
    gap: '8px',
    padding: '10px 40px 10px 12px',
    font: 'var(--small) var(--sans)',
  },
  '.cm-panel.cm-search br': { flexBasis: '100%', width: '0', content: '""' },
  '.cm-panel.cm-search :is(input, button, label)': { margin: '0' },
  '.cm-panel.cm-search label': { display: 'inline-flex', alignItems: 'center', gap: '4px' },
  '.cm-panel.cm-search .cm-textfield': {
    minHeight: '32px',
    padding: '4px 10px',
    border: '1px solid var(--edge)',
    borderRadius: 'var(--round-control)',
    backgroundColor: 'var(--paper)',
    color: 'var(--ink)',
    font: 'inherit',
  },
  '.cm-panel.cm-search .cm-button': {
    minHeight: '32px',
    padding: '4px 12px',
    border: '1px solid var(--line)',
    borderRadius: 'var(--round-control)',
    background: 'var(--paper)',
    color: 'var(--ink)',
    font: 'inherit',
    fontWeight: '600',
    cursor: 'pointer',
  },
  '.cm-panel.cm-search .cm-button:hover': { borderColor: 'var(--accent)' },
  '.cm-panel.cm-search [name=close]': {
    top: '8px',
    right: '10px',
    width: '28px',
    height: '28px',
    color: 'var(--quiet)',
    fontSize: '20px',
    cursor: 'pointer',
  },
  '.cm-tooltip': { backgroundColor: 'var(--paper)', color: 'var(--ink)' },
})

/**
 * `<code-editor>`: replaces its text area with CodeMirror and runs the text in the preview of the
 * page, if it has one. `data-plain` is for text that is no HTML, `data-line` the line to open. A
 * shadow root holds its styles, which the CSP of the page would block.
 */
class CodeEditor extends HTMLElement {
  #timer = 0

  connectedCallback(): void {
    const area = this.querySelector('textarea')
    if (!area || this.shadowRoot) return
    const root = this.attachShadow({ mode: 'open' })
    const view = new EditorView({
      doc: area.value,
      root,
      extensions: [
        basicSetup,
        this.dataset['plain'] === undefined ? html() : EditorView.lineWrapping,
        colors,
        theme,
        EditorView.contentAttributes.of({
          'aria-label': this.dataset['label'] ?? t('Page'),
          tabindex: '0',
        }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return
          area.value = view.state.doc.toString()
          clearTimeout(this.#timer)
          this.#timer = setTimeout(() => this.#preview(area.value), previewDelayMs)
        }),
      ],
    })
    // The form sends the text area, which is no longer visible and cannot show its own error.
    area.required = false
    root.append(view.dom)
    const line = Number(this.dataset['line'])
    if (!(line >= 1 && line <= view.state.doc.lines)) return
    const { from } = view.state.doc.line(line)
    const effects = EditorView.scrollIntoView(from, { y: 'center' })
    view.dispatch({ selection: { anchor: from }, effects })
    view.focus()
  }

  #preview(text: string): void {
    void document.querySelector<AppPreview>('app-preview')?.show(text)
  }
}

customElements.define('code-editor', CodeEditor)
