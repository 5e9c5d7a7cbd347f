import type { Hit } from '../findings.ts'
import type { Page } from '../page.ts'
import { getRule } from '../rules.ts'
import { findSecrets } from '../secret-patterns.ts'

const publicGoogleKey = /firebaseapp|messagingSenderId|authDomain/
const mapsKey = /maps\.googleapis\.com\/maps[^\s"'<>]{0,300}$/

/** Private keys and API keys that look live, anywhere in the page, comments included. */
export function* secrets(page: Page): Generator<Hit> {
  const firebase = publicGoogleKey.test(page.html)
  for (const { name, at } of findSecrets(page.html)) {
    const before = page.html.slice(Math.max(0, at - 320), at)
    if (name === 'Google API key' && (firebase || mapsKey.test(before))) continue
    yield hit(name, at)
  }
  for (const literal of page.literals)
    for (const { name } of findSecrets(literal.value)) yield hit(name, literal.at)
}

function hit(name: string, at: number): Hit {
  const help = `This looks like a live ${name}. ${getRule('secret.leak').help}`
  return { code: 'secret.leak', at, help }
}
