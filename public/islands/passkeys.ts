/**
 * `<passkey-form data-options="...">` around a form: before that is sent, the device makes a
 * passkey (where the options name a user) or signs with one, and what it answers goes along. Where
 * the browser knows none, the element is not shown.
 */
class PasskeyForm extends HTMLElement {
  connectedCallback(): void {
    const form = this.querySelector('form')
    const answer = form?.elements.namedItem('answer')
    const isKnown =
      isSecureContext && typeof self.PublicKeyCredential?.prototype.toJSON === 'function'
    if (!form || !(answer instanceof HTMLInputElement) || !isKnown) {
      this.hidden = true
      return
    }
    this.dataset['ready'] = ''
    const said = document.createElement('p')
    said.setAttribute('role', 'alert')
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      try {
        answer.value = JSON.stringify(await answerOf(JSON.parse(this.dataset['options'] ?? '')))
        form.submit()
      } catch (error) {
        said.className = 'alert'
        said.textContent = sentenceOf(error)
        form.append(said)
      }
    })
  }
}

type Options = PublicKeyCredentialCreationOptionsJSON | PublicKeyCredentialRequestOptionsJSON

async function answerOf(options: Options): Promise<unknown> {
  const { parseCreationOptionsFromJSON, parseRequestOptionsFromJSON } = PublicKeyCredential
  const asked =
    'user' in options
      ? navigator.credentials.create({ publicKey: parseCreationOptionsFromJSON(options) })
      : navigator.credentials.get({ publicKey: parseRequestOptionsFromJSON(options) })
  const made = await asked
  if (!(made instanceof PublicKeyCredential)) throw new Error('no passkey')
  return made.toJSON()
}

function sentenceOf(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'InvalidStateError')
    return 'This device has a passkey of yours for this place already.'
  if (name === 'SecurityError') return 'Passkeys work only at the address this place is known by.'
  return 'No passkey was used. Try again, or sign in another way.'
}

customElements.define('passkey-form', PasskeyForm)
