import { expect, test } from 'bun:test'

import { scan } from '../inspection.ts'

const script = (code: string) => `<!doctype html>\n<script>\n${code}\n</script>`
const found = (html: string) => scan(html).findings.map(({ code, line }) => `${code} ${line}`)
const payload = 'Zm9vYmFy'.repeat(30)

/** Code and what must be found in it; the code starts on line 3. */
const table: [string, string, string[]][] = [
  ['a WebRTC connection is found', 'new RTCPeerConnection({})', ['net.webrtc 3']],
  [
    'WebRTC as a member of window is found',
    'let c = window.webkitRTCPeerConnection',
    ['net.webrtc 3'],
  ],
  ['WebRTC by a string is found', "new window['RTCPeerConnection']()", ['net.webrtc 3']],
  [
    'WebRTC by a string in a variable is found',
    "const k = 'RTCPeerConnection'\nnew self[k]()",
    ['net.webrtc 3'],
  ],
  [
    'WebRTC by concatenated strings is found',
    "\nnew window['RTC' + 'Peer' + `Connection`]()",
    ['net.webrtc 4'],
  ],
  [
    'WebRTC by concatenated variables is found',
    "let a = 'RTCPeer'\nnew window[a + 'Connection']()",
    ['net.webrtc 4'],
  ],
  [
    'WebRTC by a reversed string is found',
    "self['noitcennoCreePCTR'.split('').reverse().join('')]()",
    ['net.webrtc 3'],
  ],
  ['WebRTC in a Unicode escape is found', 'new \\u0052TCPeerConnection()', ['net.webrtc 3']],
  ['WebRTC in eval is found', "eval('new RTCPeerConnection()')", ['net.webrtc 3']],
  [
    'WebRTC in Function is found',
    "new Function('a', 'new RTCPeerConnection(a)')",
    ['net.webrtc 3'],
  ],
  [
    'WebRTC in a script with a syntax error is found',
    'let = = "\nnew RTCPeerConnection()',
    ['net.webrtc 4'],
  ],
  ['WebRTC in a comment is allowed', '// RTCPeerConnection\n/* new RTCPeerConnection() */', []],
  ['WebRTC in a displayed text is allowed', 'say("RTCPeerConnection is not here")', []],
  ['WebRTC as the key of an object is allowed', 'const globals = { RTCPeerConnection: false }', []],
  [
    'a check whether WebRTC exists is allowed',
    "if (typeof RTCPeerConnection === 'undefined') play()",
    [],
  ],
  ['the name of WebRTC in a list is allowed', "const banned = ['RTCPeerConnection', 'fetch']", []],

  ['a known coin miner is found', "new CoinHive.Anonymous('key').start()", ['miner.signature 3']],
  [
    'the address of a mining pool is found',
    "\nopen('x', 'wss://gulf.moneroocean.stream:443')",
    ['miner.signature 4', 'net.external 4'],
  ],
  [
    'the address of a mining pool in pieces is found',
    "let w = new WebSocket('wss://xmr' + 'pool.eu')",
    ['miner.signature 3', 'net.external 3'],
  ],
  [
    'the address of a stratum proxy is found',
    "const pool = 'stratum+tcp://xmr.example:3333'",
    ['miner.signature 3'],
  ],
  ['prose about miners is allowed', "say('Coinhive was a miner; cryptonight its hash')", []],
  ['a mining game is allowed', 'const miner = new Miner(); miner.dig(ore)', []],

  [
    'WebRTC in base64 that is evaluated is found',
    `eval(atob('${btoa('new RTCPeerConnection()')}'))`,
    ['obf.packer 3', 'net.webrtc 3'],
  ],
  [
    'a password form in escaped HTML is found',
    `document.write(unescape('${escape('<form action="https://e.example"><input type=password>')}'))`,
    ['phish.credential_form 3', 'obf.decode_eval 3'],
  ],
  [
    'WebRTC in character codes is found',
    `eval(String.fromCharCode(${[...'new RTCPeerConnection'].map((c) => c.charCodeAt(0)).join()}))`,
    ['obf.packer 3', 'net.webrtc 3'],
  ],
  [
    'a payload behind a decoder that the scan cannot run is found',
    `function d(s) { let o = ''; for (const c of s) o += ` +
      `String.fromCharCode(c.charCodeAt(0) ^ 7); return o }\neval(d('${payload}'))`,
    ['obf.packer 4'],
  ],
  [
    'a decoded payload in a variable is found',
    `const t = atob(key('${payload}'))\nnew Function(t)()`,
    ['obf.packer 4'],
  ],
  ['decoding in the call of eval is found', 'eval(atob(window.name))', ['obf.packer 3']],
  [
    'decoding before the call of Function is found',
    'const t = atob(key())\nnew Function(t)()',
    ['obf.packer 4'],
  ],
  [
    'harmless code in base64 that is evaluated is found',
    `eval(atob('${btoa('draw(1)')}'))`,
    ['obf.packer 3'],
  ],
  [
    'a packed script is found',
    "eval(function(p,a,c,k,e,d){return p}('0 1(2)',3,3,'var|draw|x'.split('|'),0,{}))",
    ['obf.packer 3'],
  ],
  [
    'WebRTC in a packed script is found',
    "eval(function(p,a,c,k,e,d){return p}('0 1()',3,2,'new|RTCPeerConnection'.split('|'),0,{}))",
    ['obf.packer 3', 'net.webrtc 3'],
  ],
  [
    'RegPack',
    "for(_='abc~d';g=/[~]/.exec(_);)with(_.split(g))_=join(shift());eval(_)",
    ['obf.packer 3'],
  ],
  [
    'code in the pixels of an image is found',
    "let s='';for(const b of c.getImageData(0,0,9,9).data)s+=String.fromCharCode(b);eval(s)",
    ['obf.packer 3'],
  ],
  ['code of punctuation alone is found', '[][(![]+[])[+[]]]'.repeat(300), ['obf.packer 3']],
  [
    'code with obfuscated names is found',
    Array.from({ length: 30 }, (_, n) => `var _0x1a2b${n} = ${n}`).join('\n'),
    ['obf.packer 3'],
  ],
  [
    'unescaping harmless HTML is allowed',
    'document.write(unescape("%3Cb%3E" + name + " plays%3C/b%3E"))',
    [],
  ],
  [
    'printing the alphabet by character codes is allowed',
    'for (let i = 32; i < 127; i++) document.write(String.fromCharCode(i))',
    [],
  ],
  [
    'a timer beside a payload in minified code is allowed',
    `function t(){var e=String.fromCharCode(n);setTimeout(e,20)}var p='${payload}'`,
    [],
  ],
  ['evaluating what a person types is allowed', 'eval(input.value)', []],
  [
    'a data table far from decoded text that is written is allowed',
    `const t = '${payload}'\n${'draw(1)\n'.repeat(1_000)}const s = atob(key())\nfile.write(s)`,
    [],
  ],
  [
    'a payload after a long library is found',
    `${'draw(1)\n'.repeat(1_000)}const s = key(atob('${payload}'))\ndocument.write(s)`,
    ['obf.packer 1004'],
  ],
  [
    'pixels of an image far from a call of Function are allowed',
    `c.getImageData(0, 0, 9, 9)\n${'draw(1)\n'.repeat(1_000)}new Function(text)`,
    [],
  ],
  [
    'variables that are assigned to each other end and are allowed',
    `e=atob(n);${'r=e;e=r;'.repeat(100)}new Function(e)()`,
    [],
  ],
  ['a sprite in base64 is allowed', `img.src = 'data:image/png;base64,' + atob('${payload}')`, []],

  [
    'a frame breaker is found',
    'if (top !== self) top.location = self.location',
    ['sandbox.differs 3'],
  ],
  [
    'navigating the parent page is found',
    "window.parent.location.replace('/x')",
    ['sandbox.differs 3'],
  ],
  [
    'a frame breaker with brackets is found',
    "window['top']\ntop['location']['href'] = 1",
    ['sandbox.differs 4'],
  ],
  [
    'removing the sandbox attribute is found',
    "frameElement.removeAttribute('sandbox')",
    ['sandbox.differs 3'],
  ],
  [
    'comparing the address of the top page is allowed',
    'const framed = top.location !== self.location',
    [],
  ],
  [
    'other properties named top and parent are allowed',
    'this.top = 4; box.top.location = 3; parent.postMessage(1)',
    [],
  ],

  [
    'a redirect to another site is found',
    "\nlocation = 'https://elsewhere.example'",
    ['redirect.script 4'],
  ],
  [
    'a redirect by href is found',
    "window.location.href = '//elsewhere.example/' + id",
    ['redirect.script 3'],
  ],
  [
    'a redirect by replace is found',
    "location.replace('https://elsewhere.example')",
    ['redirect.script 3'],
  ],
  [
    'a download from a data URL is allowed',
    "location.href = 'data:application/octet-stream,' + text",
    [],
  ],
  [
    'a redirect to a page in a data URL is found',
    "location.href = 'data:text/html,' + text",
    ['redirect.script 3'],
  ],
  ['a reload is allowed', "location.reload(); location.hash = '#2'; location.href = url", []],
  [
    'another property named location is allowed',
    "spawn.location = 'https://elsewhere.example'",
    [],
  ],

  ['a request to another host is found', "fetch('https://api.example/x')", ['net.external 3']],
  [
    'an imported module of another host is found',
    "import x from 'https://cdn.example/x.js'",
    ['net.external 3'],
  ],
  ['an image beside the page is found', "\nimg.src = 'art/hero.png'", ['net.external 4']],
  ['a sound beside the page is found', "new Audio('boom.mp3').play()", ['net.external 3']],
  ['data beside the page is found', "await fetch('levels.json')", ['net.external 3']],
  ['a request to the path of a server is found', 'fetch(`/api/scores/${id}`)', ['net.external 3']],
  ['a worker beside the page is found', "new Worker('worker.js')", ['net.external 3']],
  ['a library by its bare name is found', "import * as THREE from 'three'", ['net.external 3']],
  [
    'a module beside the page is found',
    "import './game.js'\nimport('./x.js')",
    ['net.external 3', 'net.external 4'],
  ],
  [
    'assets, blobs and data URLs are allowed',
    "img.src = service.assets.url('hero.png'); service.assets.image('a.png'); img.src = hero\n" +
      "fetch('data:,x'); fetch(blob); cache.fetch('x'); new Audio(url); Array.from('x')\n" +
      "new Worker('blob:x'); const o = { src: 'a.png', from: 'b' }; import(`data:text/javascript,1`)",
    [],
  ],

  ['a confirmation dialog is found', "if (confirm('Sure?')) reset()", ['sandbox.differs 3']],
  ['a prompt of the window is found', "name = window.prompt('Name?')", ['sandbox.differs 3']],
  [
    'own functions named confirm, prompt and print are allowed',
    "function confirm(text) {}\nconfirm('x')\nui.prompt('x'); class A { print(x) {} }",
    [],
  ],
  ['a database of the browser is allowed', "const r = indexedDB.open('saves', 1)", []],
  [
    'an empty new window is found',
    "const w = window.open('', '_blank')\nw.document.write(x)",
    ['sandbox.differs 3'],
  ],
  [
    'a new window without a click is found',
    "\nwindow.open('https://elsewhere.example', '_blank')\nbox.open('')",
    ['redirect.script 4'],
  ],
  [
    'a new window after a click is allowed',
    "b.onclick = () => window.open('https://elsewhere.example')",
    [],
  ],
  ['a new frame is found', "document.createElement('iframe')", ['sandbox.differs 3']],
  [
    'the use of the camera is found',
    'navigator.mediaDevices.getUserMedia({ video: true })',
    ['sandbox.differs 3'],
  ],
  [
    'setting the hash by location is allowed',
    "location.href = '#menu'\nwindow.location = `#${n}`\nlocation.replace('#/a')",
    [],
  ],
  [
    'setting the hash alone is allowed',
    "location.hash = '#menu'; box.location = '#x'; location.href === '#'",
    [],
  ],
  [
    'the address of an XML namespace is allowed',
    "document.createElementNS('http://www.w3.org/2000/svg', 'g')",
    [],
  ],
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
