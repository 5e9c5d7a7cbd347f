export type Effect = 'block' | 'unlist' | 'warn'

/**
 * Counts what the safety check has become: one more with every change of what it finds. What
 * earlier rules have read is then read again, a little at a time.
 */
export const rulesVersion = 7

/**
 * The closed list of what the safety check looks for: the code a caller branches on, what it does
 * to the page (`block`: not hosted, `unlist`: hosted but not on Explore, `warn`: told only), one
 * sentence for the docs, and how to mend it. Follows document 1, operations 9 and 11, and the
 * table "The scan: rules first".
 */
export const RULES = [
  {
    code: 'phish.credential_form',
    effect: 'block',
    says:
      'A password, card, one-time-code or seed-phrase field whose form or script sends it ' +
      'to another host, by mail or to a server script.',
    help:
      'Remove the field or the address it is sent to: a page here cannot sign anybody in ' +
      'elsewhere and must not collect what people type.',
  },
  {
    code: 'phish.brand_login',
    effect: 'block',
    says:
      'A known brand in the title, a heading or the logo, together with a credential field ' +
      'and sign-in words.',
    help:
      'Remove the sign-in form, or the brand: a page here must not look like the sign-in of ' +
      'somebody else.',
  },
  {
    code: 'phish.wallet_seed',
    effect: 'block',
    says: 'Asks for a recovery phrase of 12 or 24 words or for the private key of a wallet.',
    help:
      'Remove the field. No honest page asks for the words or the key of a wallet; show ' +
      'made-up words in a read-only field instead.',
  },
  {
    code: 'scam.tech_support',
    effect: 'block',
    says: 'Claims that the computer is infected or locked and gives a telephone number to call.',
    help: 'Remove the alarm or the number. A story about a virus needs no telephone number.',
  },
  {
    code: 'scam.paste_run',
    effect: 'block',
    says:
      'Tells the visitor to open the Run dialog or a terminal and paste something, to prove ' +
      'being human or to fix a fault.',
    help: 'Remove the instructions: no page may have people run commands as a check.',
  },
  {
    code: 'miner.signature',
    effect: 'block',
    says: 'The name or the endpoint of a known coin miner.',
    help: 'Remove the miner: pages here may not mine.',
  },
  {
    code: 'dropper.executable',
    effect: 'block',
    says: 'An executable or an archive inside the page that is offered for download.',
    help:
      'Remove the embedded file. Offer pictures, text or data for download, never programs ' +
      'or archives that were put in beforehand.',
  },
  {
    code: 'dropper.filename',
    effect: 'block',
    says:
      'A download made by the page with the name of a program, such as .exe, .hta, .lnk or ' +
      '.apk.',
    help: 'Name the download after what it holds, and do not offer programs.',
  },
  {
    code: 'obf.decode_eval',
    effect: 'block',
    says:
      'Runs or writes decoded text that breaks a rule of this list or cannot be read, or ' +
      'tries to break out of the frame.',
    help:
      'Put the code into the page as it is, without encoding it, and leave the outer frame ' +
      'alone.',
  },
  {
    code: 'net.webrtc',
    effect: 'block',
    says: 'Uses RTCPeerConnection.',
    help:
      'Remove RTCPeerConnection and its libraries: pages here reach no network. Play ' +
      'against the computer or on one screen.',
  },
  {
    code: 'secret.leak',
    effect: 'block',
    says: 'A private key or an API key that looks live.',
    help:
      'Remove the key and revoke it where it was issued: everybody can read a published ' +
      'page. Ask the visitor for a key instead.',
  },
  {
    code: 'known.bad',
    effect: 'block',
    says: 'The very page was taken down before.',
    help: 'A page that was taken down cannot come back. Appeal, or publish something else.',
  },
  {
    code: 'outside.block',
    effect: 'block',
    says: 'The safety check that the operator runs beside this one (SCAN_HOOK_URL) forbids it.',
    help: 'Change what the excerpt names, or ask the operator.',
  },
  {
    code: 'outside.warn',
    effect: 'unlist',
    says: 'The same check lets it be hosted, and keeps it off Explore.',
    help: 'Change what the excerpt names, or ask the operator.',
  },
  {
    code: 'obf.packer',
    effect: 'unlist',
    says:
      'Packed or obfuscated code: it is hosted, but visitors of Explore can remix only what ' +
      'can be read.',
    help: 'Publish the code unpacked; 4 MB leave room for it.',
  },
  {
    code: 'redirect.meta',
    effect: 'unlist',
    says: 'A meta refresh that leads to another address.',
    help: 'Remove the meta refresh: the page cannot leave its frame.',
  },
  {
    code: 'redirect.script',
    effect: 'unlist',
    says: 'A script that leads the visitor to another address.',
    help: 'Use a plain link, which the viewer offers to open outside.',
  },
  {
    code: 'text.policy',
    effect: 'unlist',
    says: 'Slurs, or instructions aimed at the agents that read the page.',
    help: 'Change the words named in the excerpt.',
  },
  {
    code: 'net.external',
    effect: 'warn',
    says:
      'A script, style, font, picture, sound or request from an address outside the page: ' +
      'it will not load here.',
    help: 'Inline it. Pictures, sounds and JSON can be assets: upload them and use service.assets.',
  },
  {
    code: 'sandbox.differs',
    effect: 'warn',
    says:
      'Something of the browser that a page does not have here, or has in another way: ' +
      'confirm(), prompt(), print(), window.open(), indexedDB, frames, file pickers, camera, ' +
      'forms that are sent.',
    help: 'Do without it: the help of each finding says how.',
  },
  {
    code: 'assets.malformed',
    effect: 'warn',
    says: 'The list in <script type="application/json" data-assets> is not a list of asset asks.',
    help: 'Write a JSON list of { name, kind, what }; see the documentation of assets.',
  },
] as const satisfies readonly { code: string; effect: Effect; says: string; help: string }[]

export type RuleCode = (typeof RULES)[number]['code']

/** The rule of a code. */
export function theRule(code: RuleCode): (typeof RULES)[number] {
  const rule = RULES.find((row) => row.code === code)
  if (!rule) throw new Error(`no rule ${code}`)
  return rule
}
