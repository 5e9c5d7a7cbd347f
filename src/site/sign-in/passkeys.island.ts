import { t } from '../../../public/words.ts'
/**
 * `<passkey-form data-options="...">`: before its form is submitted, it creates a passkey (if the
 * options name a user) or signs with one, and puts the result in the field `answer`. It is hidden
 * in browsers without passkeys.
 */
class PasskeyForm extends HTMLElement {
  connectedCallback(): void {
    const form = this.querySelector('form')
    const responseField = form?.elements.namedItem('answer')
    const isSupported =
      isSecureContext && typeof self.PublicKeyCredential?.prototype.toJSON === 'function'
    if (!form || !(responseField instanceof HTMLInputElement) || !isSupported) {
      this.hidden = true
      return
    }
    this.dataset['ready'] = ''
    const alert = document.createElement('p')
    alert.setAttribute('role', 'alert')
    form.addEventListener('submit', async (event) => {
      event.preventDefault()
      try {
        responseField.value = JSON.stringify(
          await getCredential(JSON.parse(this.dataset['options'] ?? '')),
        )
        form.submit()
      } catch (error) {
        alert.className = 'alert'
        alert.textContent = messageOf(error)
        form.append(alert)
      }
    })
  }
}

type Options = PublicKeyCredentialCreationOptionsJSON | PublicKeyCredentialRequestOptionsJSON

async function getCredential(options: Options): Promise<unknown> {
  const { parseCreationOptionsFromJSON, parseRequestOptionsFromJSON } = PublicKeyCredential
  const request =
    'user' in options
      ? navigator.credentials.create({ publicKey: parseCreationOptionsFromJSON(options) })
      : navigator.credentials.get({ publicKey: parseRequestOptionsFromJSON(options) })
  const credential = await request
  if (!(credential instanceof PublicKeyCredential)) throw new Error('no passkey')
  return credential.toJSON()
}

function messageOf(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'InvalidStateError') return t('This device already has a passkey for this site.')
  if (name === 'SecurityError') return t('Passkeys work only at the main address of this site.')
  return t('The passkey was not used. Try again or sign in another way.')
}

customElements.define('passkey-form', PasskeyForm)
