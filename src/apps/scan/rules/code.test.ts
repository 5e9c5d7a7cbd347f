import { expect, test } from 'bun:test'

import { scan } from '../scan.ts'

const script = (code: string) => `<!doctype html>\n<script>\n${code}\n</script>`
const found = (html: string) => scan(html).findings.map(({ code, line }) => `${code} ${line}`)
const payload = 'Zm9vYmFy'.repeat(30)

/** Code and what must be found in it; the code starts on line 3. */
const table: [string, string, string[]][] = [
  ['a connection', 'new RTCPeerConnection({})', ['net.webrtc 3']],
  ['of the window', 'let c = window.webkitRTCPeerConnection', ['net.webrtc 3']],
  ['by a text', "new window['RTCPeerConnection']()", ['net.webrtc 3']],
  ['by a text in a name', "const k = 'RTCPeerConnection'\nnew self[k]()", ['net.webrtc 3']],
  ['by pieces', "\nnew window['RTC' + 'Peer' + `Connection`]()", ['net.webrtc 4']],
  ['by names', "let a = 'RTCPeer'\nnew window[a + 'Connection']()", ['net.webrtc 4']],
  ['by reversing', "self['noitcennoCreePCTR'.split('').reverse().join('')]()", ['net.webrtc 3']],
  ['in an escape', 'new \\u0052TCPeerConnection()', ['net.webrtc 3']],
  ['in eval', "eval('new RTCPeerConnection()')", ['net.webrtc 3']],
  ['in Function', "new Function('a', 'new RTCPeerConnection(a)')", ['net.webrtc 3']],
  ['in a broken script', 'let = = "\nnew RTCPeerConnection()', ['net.webrtc 4']],
  ['in a comment', '// RTCPeerConnection\n/* new RTCPeerConnection() */', []],
  ['in a text', 'say("RTCPeerConnection is not here")', []],
  ['as a key', 'const globals = { RTCPeerConnection: false }', []],
  ['as a question', "if (typeof RTCPeerConnection === 'undefined') play()", []],
  ['in a list of names', "const banned = ['RTCPeerConnection', 'fetch']", []],

  ['a miner', "new CoinHive.Anonymous('key').start()", ['miner.signature 3']],
  [
    'a pool',
    "\nopen('x', 'wss://gulf.moneroocean.stream:443')",
    ['miner.signature 4', 'net.external 4'],
  ],
  [
    'a pool in pieces',
    "let w = new WebSocket('wss://xmr' + 'pool.eu')",
    ['miner.signature 3', 'net.external 3'],
  ],
  ['a proxy', "const pool = 'stratum+tcp://xmr.example:3333'", ['miner.signature 3']],
  ['prose about miners', "say('Coinhive was a miner; cryptonight its hash')", []],
  ['a mining game', 'const miner = new Miner(); miner.dig(ore)', []],

  [
    'an unpacked connection',
    `eval(atob('${btoa('new RTCPeerConnection()')}'))`,
    ['obf.packer 3', 'net.webrtc 3'],
  ],
  [
    'a written form',
    `document.write(unescape('${escape('<form action="https://e.example"><input type=password>')}'))`,
    ['phish.credential_form 3', 'obf.decode_eval 3'],
  ],
  [
    'codes of letters',
    `eval(String.fromCharCode(${[...'new RTCPeerConnection'].map((c) => c.charCodeAt(0)).join()}))`,
    ['obf.packer 3', 'net.webrtc 3'],
  ],
  [
    'what cannot be read',
    `function d(s) { let o = ''; for (const c of s) o += ` +
      `String.fromCharCode(c.charCodeAt(0) ^ 7); return o }\neval(d('${payload}'))`,
    ['obf.packer 4'],
  ],
  ['through a name', `const t = atob(key('${payload}'))\nnew Function(t)()`, ['obf.packer 4']],
  ['decoded where it is run', 'eval(atob(window.name))', ['obf.packer 3']],
  ['decoded before', 'const t = atob(key())\nnew Function(t)()', ['obf.packer 4']],
  ['harmless decoded code', `eval(atob('${btoa('draw(1)')}'))`, ['obf.packer 3']],
  [
    'p.a.c.k.e.d',
    "eval(function(p,a,c,k,e,d){return p}('0 1(2)',3,3,'var|draw|x'.split('|'),0,{}))",
    ['obf.packer 3'],
  ],
  [
    'p.a.c.k.e.d trouble',
    "eval(function(p,a,c,k,e,d){return p}('0 1()',3,2,'new|RTCPeerConnection'.split('|'),0,{}))",
    ['obf.packer 3', 'net.webrtc 3'],
  ],
  [
    'RegPack',
    "for(_='abc~d';g=/[~]/.exec(_);)with(_.split(g))_=join(shift());eval(_)",
    ['obf.packer 3'],
  ],
  [
    'a picture unpacked',
    "let s='';for(const b of c.getImageData(0,0,9,9).data)s+=String.fromCharCode(b);eval(s)",
    ['obf.packer 3'],
  ],
  ['signs alone', '[][(![]+[])[+[]]]'.repeat(300), ['obf.packer 3']],
  [
    'renamed code',
    Array.from({ length: 30 }, (_, n) => `var _0x1a2b${n} = ${n}`).join('\n'),
    ['obf.packer 3'],
  ],
  ['an old counter', 'document.write(unescape("%3Cb%3E" + name + " plays%3C/b%3E"))', []],
  [
    'a table of letters',
    'for (let i = 32; i < 127; i++) document.write(String.fromCharCode(i))',
    [],
  ],
  [
    'a timer in minified code',
    `function t(){var e=String.fromCharCode(n);setTimeout(e,20)}var p='${payload}'`,
    [],
  ],
  ['a console', 'eval(input.value)', []],
  [
    'a table of a library far from what it writes',
    `const t = '${payload}'\n${'draw(1)\n'.repeat(1_000)}const s = atob(key())\nfile.write(s)`,
    [],
  ],
  [
    'a payload with a library in front of it',
    `${'draw(1)\n'.repeat(1_000)}const s = key(atob('${payload}'))\ndocument.write(s)`,
    ['obf.packer 1004'],
  ],
  [
    'pictures of a library far from the functions it makes',
    `c.getImageData(0, 0, 9, 9)\n${'draw(1)\n'.repeat(1_000)}new Function(text)`,
    [],
  ],
  [
    'short names that hand each other on',
    `e=atob(n);${'r=e;e=r;'.repeat(100)}new Function(e)()`,
    [],
  ],
  ['a decoded sprite', `img.src = 'data:image/png;base64,' + atob('${payload}')`, []],

  ['a broken frame', 'if (top !== self) top.location = self.location', ['sandbox.differs 3']],
  ['a moved parent', "window.parent.location.replace('/x')", ['sandbox.differs 3']],
  ['a bracketed frame', "window['top']\ntop['location']['href'] = 1", ['sandbox.differs 4']],
  ['a frame undone', "frameElement.removeAttribute('sandbox')", ['sandbox.differs 3']],
  ['a question to the frame', 'const framed = top.location !== self.location', []],
  ['the top of a box', 'this.top = 4; box.top.location = 3; parent.postMessage(1)', []],

  ['a redirect', "\nlocation = 'https://elsewhere.example'", ['redirect.script 4']],
  [
    'a redirect by href',
    "window.location.href = '//elsewhere.example/' + id",
    ['redirect.script 3'],
  ],
  ['a redirect by replace', "location.replace('https://elsewhere.example')", ['redirect.script 3']],
  ['a file to keep', "location.href = 'data:application/octet-stream,' + text", []],
  ['a page in an address', "location.href = 'data:text/html,' + text", ['redirect.script 3']],
  ['a reload', "location.reload(); location.hash = '#2'; location.href = url", []],
  ['a level record', "spawn.location = 'https://elsewhere.example'", []],

  ['a request', "fetch('https://api.example/x')", ['net.external 3']],
  ['an imported module', "import x from 'https://cdn.example/x.js'", ['net.external 3']],
  ['a picture beside the page', "\nimg.src = 'art/hero.png'", ['net.external 4']],
  ['a sound beside the page', "new Audio('boom.mp3').play()", ['net.external 3']],
  ['data beside the page', "await fetch('levels.json')", ['net.external 3']],
  ['a server of its own', 'fetch(`/api/scores/${id}`)', ['net.external 3']],
  ['a worker beside the page', "new Worker('worker.js')", ['net.external 3']],
  ['a library by name', "import * as THREE from 'three'", ['net.external 3']],
  [
    'a module beside the page',
    "import './game.js'\nimport('./x.js')",
    ['net.external 3', 'net.external 4'],
  ],
  [
    'things that are there',
    "img.src = service.assets.url('hero.png'); service.assets.image('a.png'); img.src = hero\n" +
      "fetch('data:,x'); fetch(blob); cache.fetch('x'); new Audio(url); Array.from('x')\n" +
      "new Worker('blob:x'); const o = { src: 'a.png', from: 'b' }; import(`data:text/javascript,1`)",
    [],
  ],

  ['a question', "if (confirm('Sure?')) reset()", ['sandbox.differs 3']],
  ['a question of the window', "name = window.prompt('Name?')", ['sandbox.differs 3']],
  [
    'questions of its own',
    "function confirm(text) {}\nconfirm('x')\nui.prompt('x'); class A { print(x) {} }",
    [],
  ],
  ['a database', "const r = indexedDB.open('saves', 1)", []],
  [
    'a window to write to',
    "const w = window.open('', '_blank')\nw.document.write(x)",
    ['sandbox.differs 3'],
  ],
  [
    'a window at once',
    "\nwindow.open('https://elsewhere.example', '_blank')\nbox.open('')",
    ['redirect.script 4'],
  ],
  ['a window for a click', "b.onclick = () => window.open('https://elsewhere.example')", []],
  ['a frame', "document.createElement('iframe')", ['sandbox.differs 3']],
  ['a camera', 'navigator.mediaDevices.getUserMedia({ video: true })', ['sandbox.differs 3']],
  [
    'a hash by other means',
    "location.href = '#menu'\nwindow.location = `#${n}`\nlocation.replace('#/a')",
    [],
  ],
  ['a hash that stays', "location.hash = '#menu'; box.location = '#x'; location.href === '#'", []],
  ['a name space', "document.createElementNS('http://www.w3.org/2000/svg', 'g')", []],
]

test.each(table)('%s', (_, code, codes) => {
  expect(found(script(code))).toEqual(codes)
})

test('reads handlers and URLs as code', () => {
  expect(found('<p onclick="new RTCPeerConnection()">')).toEqual(['net.webrtc 1'])
  expect(found('\n<a href="javascript:new&#32;RTCPeerConnection()">')).toEqual(['net.webrtc 2'])
  expect(found(`<button onclick="location.href='https://e.example'">`)).toEqual([
    'sandbox.differs 1',
  ])
  expect(found(`<body onclick="location.href='https://e.example'">`)).toEqual(['redirect.script 1'])
})

test('does not read data scripts as code', () => {
  expect(found('<script type="application/json">{"a":"RTCPeerConnection"}</script>')).toEqual([])
  expect(found('<script type="x-shader">RTCPeerConnection()</script>')).toEqual([])
})
