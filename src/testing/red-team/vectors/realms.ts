import { patches, script, type Vector } from '../vector.ts'

const call =
  "const c=new W.RTCPeerConnection({iceServers:[{urls:'{stun}'}]});c.createDataChannel('x');c.createOffer().then(o=>c.setLocalDescription(o))"
const from = (found: string): string => script(`setTimeout(()=>{const W=${found};${call}},200)`)
const make = (code: string): string => script(code) + from('frames[0]')

const all = (vectors: Vector[]): Vector[] =>
  vectors.map((vector) => ({ live: ['chromium', 'firefox'], ...vector }))

/**
 * WebRTC, which no CSP blocks, from this realm and from every other realm that a page can reach.
 * The build of WebKit in Debian has none.
 */
export const realms = all([
  { name: 'WebRTC', page: from('self') },
  {
    name: 'WebRTC by the old name',
    page: from('{RTCPeerConnection:webkitRTCPeerConnection}'),
    live: ['chromium'],
  },
  {
    name: 'WebRTC by TURN over TCP',
    page: script(
      "const c=new RTCPeerConnection({iceServers:[{urls:'{turn}',username:'a',credential:'b'}]});c.createDataChannel('x');c.createOffer().then(o=>c.setLocalDescription(o))",
    ),
  },
  { name: 'WebRTC through top', page: from('top') },
  { name: 'WebRTC from markup', page: `<iframe></iframe>${from('frames[0]')}` },
  { name: 'WebRTC from srcdoc', page: `<iframe srcdoc=x></iframe>${from('frames[0]')}` },
  {
    name: 'WebRTC inside srcdoc',
    page: `<iframe srcdoc="<script>const W=self;${call.replaceAll('"', '&quot;')}</script>"></iframe>`,
  },
  {
    name: 'WebRTC from javascript:',
    page: `<iframe src="javascript:''"></iframe>${from('frames[0]')}`,
  },
  {
    name: 'WebRTC from an object',
    page: `<object data=about:blank></object>${from('frames[0]')}`,
  },
  {
    name: 'WebRTC by createElement',
    page: make("document.body.append(document.createElement('iframe'))"),
  },
  {
    name: 'WebRTC by createElementNS',
    page: make(
      "document.body.append(document.createElementNS('http://www.w3.org/1999/xhtml','x:iframe'))",
    ),
  },
  { name: 'WebRTC by innerHTML', page: make("document.body.innerHTML='<iframe></iframe>'") },
  { name: 'WebRTC by document.write', page: make("document.write('<ifr'+'ame></iframe>')") },
  {
    name: 'WebRTC by two writes',
    page: make("document.write('<ifr');document.write('ame></iframe>')"),
  },
  {
    name: 'WebRTC by a fragment',
    page: make(
      "document.body.append(document.createRange().createContextualFragment('<iframe></iframe>'))",
    ),
  },
  {
    name: 'WebRTC by a parsed document',
    page: make(
      "document.body.append(document.adoptNode(new DOMParser().parseFromString('<iframe></iframe>','text/html').querySelector('iframe')))",
    ),
  },
  {
    name: 'WebRTC by setHTMLUnsafe',
    page: make("document.body.setHTMLUnsafe('<iframe></iframe>')"),
  },
  {
    name: 'WebRTC by another document',
    page: make(
      "document.body.append(document.implementation.createHTMLDocument().createElement('iframe'))",
    ),
  },
  {
    name: 'WebRTC by a custom element',
    page: make(
      "customElements.define('x-f',class extends HTMLIFrameElement{},{extends:'iframe'});document.body.append(document.createElement('iframe',{is:'x-f'}))",
    ),
  },
  {
    name: 'WebRTC by a constructed element',
    page: make(
      "class F extends HTMLIFrameElement{};customElements.define('x-g',F,{extends:'iframe'});document.body.append(new F)",
    ),
  },
  {
    name: 'WebRTC after patches',
    page: make(`${patches}document.body.innerHTML='<iframe></iframe>'`),
  },
  {
    name: 'WebRTC by a shadow root',
    page:
      script(
        "const h=document.createElement('p');document.body.append(h);const r=h.attachShadow({mode:'closed'});r.innerHTML='<iframe></iframe>'",
      ) + from('r.firstChild.contentWindow'),
  },
  {
    name: 'WebRTC by a fresh document',
    page: script(
      `document.open();document.write('<body>');document.close();setTimeout(()=>{const W=self;${call}},300)`,
    ),
  },
])
