import { t } from '../../../public/words.ts'
import { readValue, saveValue } from './tab-values.browser.ts'
const names = ['KEY', 'ID'] as const
type Name = (typeof names)[number]

/** The places of a value in the examples: shells, Python and JavaScript. */
const patterns: Record<Name, RegExp> = {
  KEY: /\$KEY\b|os\.environ\["KEY"\]|process\.env\.KEY\b|<key>/g,
  ID: /\$ID\b/g,
}

/** `<docs-values>`: puts the key and the app ID of the reader into the examples of the page. */
class DocsValues extends HTMLElement {
  readonly #texts = new Map<Element, string>()

  connectedCallback(): void {
    const form = this.querySelector('form')
    if (!form) return
    for (const code of document.querySelectorAll('.docs pre code')) {
      this.#texts.set(code, code.textContent)
    }
    for (const name of names) {
      const field = this.#field(name)
      if (field) field.value = readValue(name)
    }
    form.addEventListener('submit', (event) => event.preventDefault())
    form.addEventListener('input', () => this.#apply())
    this.querySelector('.fill-ids')?.addEventListener('click', () => void this.#fillIds())
    this.querySelector('.clear')?.addEventListener('click', () => {
      form.reset()
      for (const name of names) this.#field(name)?.setAttribute('value', '')
      this.#apply()
    })
    this.#apply()
  }

  #field(name: Name): HTMLInputElement | null {
    return this.querySelector(`input[name="${name}"]`)
  }

  #apply(): void {
    const values = names.map((name) => [name, this.#field(name)?.value.trim() ?? ''] as const)
    for (const [name, value] of values) saveValue(name, value)
    for (const [code, text] of this.#texts) {
      code.textContent = values.reduce(
        (all, [name, value]) => (value === '' ? all : all.replace(patterns[name], place(value))),
        text,
      )
    }
  }

  /** Asks the server for the newest app of the person who is signed in. */
  async #fillIds(): Promise<void> {
    const status = this.querySelector('[role=status]')
    const response = await fetch('/docs/mine').catch(() => undefined)
    if (!response?.ok || response.redirected) {
      status?.replaceChildren(t('Sign in first, then fill in your IDs.'))
      return
    }
    const { app }: { app: string | null } = await response.json()
    const field = this.#field('ID')
    if (field && app !== null) field.value = app
    status?.replaceChildren(
      app === null ? t('You have no app yet.') : t('Your newest app is filled in.'),
    )
    this.#apply()
  }
}

/** Code outside a shell needs the quotes of a text. */
const place =
  (value: string) =>
  (found: string): string =>
    found.startsWith('$') || found.startsWith('<') ? value : JSON.stringify(value)

customElements.define('docs-values', DocsValues)
