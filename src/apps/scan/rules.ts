export type Effect = 'block' | 'unlist' | 'warn'

/**
 * Version of the safety check. Raise it with every change of its findings: maintenance then rescans
 * the pages of earlier versions in small batches.
 */
export const rulesVersion = 18

/**
 * The rules of the safety check: the code, its effect (`block`: not hosted, `unlist`: hosted but
 * not on Explore, `warn`: reported only), a sentence for the docs, and how to fix it (document 1,
 * section 4, operations 9 and 11).
 */
export const RULES = [
  {
    code: 'phish.credential_form',
    effect: 'block',
    description:
      'A password, card, one-time-code or seed-phrase field whose form or script sends it ' +
      'to another host, by mail or to a server script.',
    help:
      'Remove the field, or the URL that receives it. Pages here cannot sign people in to other ' +
      'sites and must not collect credentials.',
  },
  {
    code: 'phish.brand_login',
    effect: 'block',
    description:
      'A known brand in the title, a heading or the logo, together with a credential field ' +
      'and sign-in words.',
    help:
      'Remove the sign-in form or the brand. Pages here must not look like the sign-in page of ' +
      'another company.',
  },
  {
    code: 'phish.wallet_seed',
    effect: 'block',
    description: 'Asks for the recovery phrase (12 or 24 words) or the private key of a wallet.',
    help:
      'Remove the field. No legitimate page asks for a recovery phrase or a private key. Show ' +
      'example words in a read-only field instead.',
  },
  {
    code: 'share.credentials',
    effect: 'block',
    description:
      'A password, card, one-time-code or seed-phrase field in a page that shares data with its ' +
      'other players.',
    help:
      'Remove the field, or do not use service.db, service.room, service.scores and shared ' +
      'values. What players type into such a page could reach other people.',
  },
  {
    code: 'scam.tech_support',
    effect: 'block',
    description: 'Claims that the computer is infected or locked and gives a phone number to call.',
    help: 'Remove the warning or the phone number.',
  },
  {
    code: 'scam.paste_run',
    effect: 'block',
    description:
      'Tells the visitor to open the Run dialog or a terminal and paste something, to prove ' +
      'being human or to fix a problem.',
    help: 'Remove the instructions. Pages must not ask people to run commands as a check.',
  },
  {
    code: 'miner.signature',
    effect: 'block',
    description: 'The name or the endpoint of a known coin miner.',
    help: 'Remove the miner. Pages here must not mine.',
  },
  {
    code: 'dropper.executable',
    effect: 'block',
    description: 'An executable or an archive inside the page that is offered for download.',
    help:
      'Remove the embedded file. Offer images, text or data for download, not embedded programs ' +
      'or archives.',
  },
  {
    code: 'dropper.filename',
    effect: 'block',
    description:
      'A download that the page names like a program, such as .exe, .hta, .lnk or ' + '.apk.',
    help: 'Name the download after its content, and do not offer programs.',
  },
  {
    code: 'obf.decode_eval',
    effect: 'block',
    description:
      'Runs or writes decoded text that breaks another rule of this list that blocks a page.',
    help: 'Remove what breaks the rule, and publish the code without encoding it.',
  },
  {
    code: 'net.webrtc',
    effect: 'warn',
    description: 'Uses RTCPeerConnection, which does not exist here.',
    help:
      'RTCPeerConnection does not work here: pages have no network. Let people play against the ' +
      'computer or on one screen.',
  },
  {
    code: 'secret.leak',
    effect: 'block',
    description: 'A private key or an API key that looks live.',
    help:
      'Remove the key and revoke it where it was issued: anyone can read a published page. Ask ' +
      'the visitor for a key instead.',
  },
  {
    code: 'known.bad',
    effect: 'block',
    description: 'The same page was taken down before.',
    help: 'A page that was taken down cannot be published again. Appeal, or publish another page.',
  },
  {
    code: 'outside.block',
    effect: 'block',
    description: 'The additional safety check of the operator (SCAN_HOOK_URL) blocks it.',
    help: 'Change the content in the excerpt, or ask the operator.',
  },
  {
    code: 'outside.warn',
    effect: 'unlist',
    description: 'The same check allows hosting but keeps the page off Explore.',
    help: 'Change the content in the excerpt, or ask the operator.',
  },
  {
    code: 'obf.packer',
    effect: 'unlist',
    description:
      'Packed or obfuscated code, or decoded text that is run or written and cannot be read. It ' +
      'is hosted, but pages on Explore must be readable so that others can remix them.',
    help: 'Publish the code unpacked. A page may have at most 4 MB.',
  },
  {
    code: 'redirect.meta',
    effect: 'unlist',
    description: 'A meta refresh to another URL.',
    help: 'Remove the meta refresh. A page cannot leave its frame.',
  },
  {
    code: 'redirect.script',
    effect: 'unlist',
    description: 'A script that navigates to another URL.',
    help: 'Use a plain link, which the viewer offers to open in a new tab.',
  },
  {
    code: 'redirect.run',
    effect: 'unlist',
    description:
      'The page tried to open another URL by itself in its first seconds, when the server ran it.',
    help: 'Do not open URLs before a click. Use a link, which the viewer offers to open.',
  },
  {
    code: 'text.policy',
    effect: 'unlist',
    description: 'Slurs, or instructions aimed at the agents that read the page.',
    help: 'Change the words in the excerpt.',
  },
  {
    code: 'net.external',
    effect: 'warn',
    description:
      'A script, style, font, image, sound or request from a URL outside the page. It does not ' +
      'load here.',
    help: 'Inline it. Images, sounds and JSON can be assets: upload them and use service.assets.',
  },
  {
    code: 'sandbox.differs',
    effect: 'warn',
    description:
      'A browser feature that is missing or different here: confirm(), prompt(), print(), ' +
      'window.open(), frames, file pickers, camera, form submission.',
    help: 'Use the alternative in the help of each finding.',
  },
  {
    code: 'assets.malformed',
    effect: 'warn',
    description:
      'The list in <script type="application/json" data-assets> is not a list of asset requests.',
    help: 'Write a JSON list of { name, kind, what }. See the documentation of assets.',
  },
] as const satisfies readonly { code: string; effect: Effect; description: string; help: string }[]

export type RuleCode = (typeof RULES)[number]['code']

export function getRule(code: RuleCode): (typeof RULES)[number] {
  const rule = RULES.find((row) => row.code === code)
  if (!rule) throw new Error(`no rule ${code}`)
  return rule
}
