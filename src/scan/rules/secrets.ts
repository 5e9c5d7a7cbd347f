import type { Hit } from '../findings.ts'
import type { Page } from '../page.ts'
import { theRule } from '../rules.ts'
import { findSecrets } from '../secret-shapes.ts'

const publicGoogleKey = /firebaseapp|messagingSenderId|authDomain/
const mapsKey = /maps\.googleapis\.com\/maps[^\s"'<>]{0,300}$/

/**
 * Private keys and API keys that look live, wherever they stand: a comment is as public as code.
 */
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
  const help = `This looks like a live ${name}. ${theRule('secret.leak').help}`
  return { code: 'secret.leak', at, help }
}
