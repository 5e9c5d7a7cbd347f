import { module, script, type Vector } from '../vector.ts'

const speculation =
  (action: 'prefetch' | 'prerender') =>
  (url: string): string => {
    const rules = JSON.stringify({ [action]: [{ urls: [url], eagerness: 'immediate' }] })
    return script(
      `const s=document.createElement('script');s.type='speculationrules';s.textContent='${rules}';document.head.append(s)`,
    )
  }

/** Ways to load a URL from a page with files of its own. */
const loads: [name: string, page: (url: string) => string, more?: Partial<Vector>][] = [
  ['fetch', (url) => script(`fetch('${url}')`)],
  [
    'fetch no-cors with cookies',
    (url) => script(`fetch('${url}',{mode:'no-cors',credentials:'include'})`),
  ],
  ['XHR', (url) => script(`const x=new XMLHttpRequest;x.open('GET','${url}');x.send()`)],
  [
    'XHR synchronous',
    (url) => script(`const x=new XMLHttpRequest;x.open('GET','${url}',false);x.send()`),
  ],
  ['sendBeacon', (url) => script(`navigator.sendBeacon('${url}','x')`)],
  ['EventSource', (url) => script(`new EventSource('${url}')`)],
  ['a range of audio', (url) => `<audio src="${url}" preload=auto></audio>`],
  ['img', (url) => `<img src="${url}">`],
  ['script', (url) => `<script src="${url}"></script>`],
  ['static import', (url) => module(`import '${url}'`)],
  ['import()', (url) => script(`import('${url}')`)],
  [
    'import map',
    (url) =>
      `<script type=importmap>{"imports":{"own":"${url}"}}</script>${module("import 'own'")}`,
  ],
  ['CSS link', (url) => `<link rel=stylesheet href="${url}">`],
  ['CSS @import', (url) => `<style>@import "${url}";</style>`],
  ['CSS background', (url) => `<style>body{background:url("${url}")}</style>`],
  [
    'CSS font',
    (url) => `<style>@font-face{font-family:x;src:url("${url}")}p{font-family:x}</style><p>x`,
  ],
  ['importScripts', (url) => worker(`importScripts('${url}')`)],
  ['fetch in a worker', (url) => worker(`fetch('${url}')`)],
  [
    'import in a module worker',
    (url) =>
      script(
        `new Worker(URL.createObjectURL(new Blob(["import '${url}'"],{type:'text/javascript'})),{type:'module'})`,
      ),
  ],
  [
    'audio worklet',
    (url) => script(`new AudioContext().audioWorklet.addModule('${url}')`),
    { isSecureOnly: true },
  ],
  [
    'paint worklet',
    (url) => script(`CSS.paintWorklet.addModule('${url}')`),
    { live: ['chromium'], isSecureOnly: true },
  ],
  [
    'service worker',
    (url) => script(`navigator.serviceWorker.register('${url}')`),
    { isSecureOnly: true },
  ],
  ['shared worker', (url) => script(`new SharedWorker('${url}')`)],
  ['symbol of SVG', (url) => `<svg><image href="${url}" width=9 height=9 /></svg>`],
  ['frame', (url) => `<iframe src="${url}"></iframe>`],
  ['object', (url) => `<object data="${url}"></object>`],
  ['location', (url) => script(`location='${url}'`)],
  [
    'form',
    (url) => script(`document.body.innerHTML='<form action="${url}">';document.forms[0].submit()`),
  ],
  ['meta refresh', (url) => `<meta http-equiv=refresh content="0;url=${url}">`],
  ['base', (url) => `<base href="${url}"><img src="?x">`],
  ['prefetch', (url) => `<link rel=prefetch href="${url}">`, { live: ['chromium', 'firefox'] }],
  ['modulepreload', (url) => `<link rel=modulepreload href="${url}">`],
  ['speculation', speculation('prefetch'), { live: ['chromium'], alone: true, isSecureOnly: true }],
  ['prerender', speculation('prerender'), { live: ['chromium'], alone: true, isSecureOnly: true }],
]

const worker = (text: string): string =>
  script(`new Worker(URL.createObjectURL(new Blob([${JSON.stringify(text)}])))`)

/**
 * Addresses beside the files of a page: of another app, another version, a guessed token, the host.
 */
const targets = {
  'another app': '{other}',
  'another version': '{version}',
  'a guessed token': '{guess}',
  'the host': '{self}/x',
}

/** Types of files of their own from which a URL is loaded, and pages that start them. */
const carriers: [
  name: string,
  page: string,
  own: (url: string) => Record<string, string>,
  more?: Partial<Vector>,
][] = [
  [
    'fetch in an own worker',
    script("new Worker('{own}w.js')"),
    (url) => ({ 'w.js': `fetch('${url}',{mode:'no-cors'})` }),
  ],
  [
    'XHR in an own worker',
    script("new Worker('{own}w.js')"),
    (url) => ({ 'w.js': `const x=new XMLHttpRequest;x.open('GET','${url}');x.send()` }),
  ],
  [
    'importScripts in an own worker',
    script("new Worker('{own}w.js')"),
    (url) => ({ 'w.js': `importScripts('${url}')` }),
  ],
  [
    'import in an own module worker',
    script("new Worker('{own}w.js',{type:'module'})"),
    (url) => ({ 'w.js': `import '${url}'` }),
  ],
  [
    'import() in an own worker',
    script("new Worker('{own}w.js',{type:'module'})"),
    (url) => ({ 'w.js': `import('${url}')` }),
  ],
  [
    'a worker of an own worker',
    script("new Worker('{own}w.js')"),
    (url) => ({
      'w.js': "new Worker('n.js')",
      'n.js': `fetch('${url}',{mode:'no-cors'})`,
    }),
  ],
  [
    'import in an own worklet',
    script("new AudioContext().audioWorklet.addModule('{own}a.js')"),
    (url) => ({ 'a.js': `import '${url}'` }),
    { isSecureOnly: true },
  ],
  [
    'import in an own module',
    '<script type=module src={own}m.js></script>',
    (url) => ({ 'm.js': `import '${url}'` }),
  ],
  [
    '@import in an own style sheet',
    '<link rel=stylesheet href={own}s.css>',
    (url) => ({ 's.css': `@import '${url}';` }),
  ],
  [
    'url() in an own style sheet',
    '<link rel=stylesheet href={own}s.css>',
    (url) => ({ 's.css': `body{background:url('${url}')}` }),
  ],
  [
    'a font in an own style sheet',
    '<link rel=stylesheet href={own}s.css><p>x',
    (url) => ({ 's.css': `@font-face{font-family:x;src:url('${url}')}p{font-family:x}` }),
  ],
  [
    'a script of an own SVG in a frame',
    '<iframe src={own}i.svg></iframe>',
    (url) => ({
      'i.svg': `<svg xmlns="http://www.w3.org/2000/svg"><script>fetch('${url}',{mode:'no-cors'})</script></svg>`,
    }),
  ],
  [
    'an own page in a frame',
    '<iframe src={own}two.html></iframe>',
    (url) => ({ 'two.html': `<script>fetch('${url}',{mode:'no-cors'})</script>` }),
  ],
  [
    'an image of an own page in a frame',
    '<iframe src={own}two.html></iframe>',
    (url) => ({ 'two.html': `<img src="${url}">` }),
  ],
  [
    'the location of an own page in a frame',
    '<iframe src={own}two.html></iframe>',
    (url) => ({ 'two.html': script(`location='${url}'`) }),
  ],
  [
    'a refresh of an own page in a frame',
    '<iframe src={own}two.html></iframe>',
    (url) => ({ 'two.html': `<meta http-equiv=refresh content="0;url=${url}">` }),
  ],
  [
    'a frame in an own page in a frame',
    '<iframe src={own}two.html></iframe>',
    (url) => ({ 'two.html': `<iframe src="${url}"></iframe>` }),
  ],
  [
    'an own page by location',
    script("location='{own}two.html'"),
    (url) => ({ 'two.html': `<img src="${url}">` }),
  ],
]

/** Spellings of a path that leads out of the folder, by the URL of the page. */
const ways: [name: string, path: string][] = [
  ['dots', '../../reach/{mark}/x'],
  ['encoded dots', '%2e%2e/%2E%2e/reach/{mark}/x'],
  ['dots behind a folder', 'js/../../../reach/{mark}/x'],
  ['a backslash', '..\\\\..\\\\reach/{mark}/x'],
  ['the root', '/reach/{mark}/x'],
  ['no scheme', '//{at}/reach/{mark}/x'],
]

const all = (name: string, page: string, more: Partial<Vector> = {}): Vector => ({
  name,
  page,
  by: 'host',
  hasFiles: true,
  ...more,
})

const network = (name: string, page: string, more: Partial<Vector>): Vector => ({
  name,
  page,
  hasFiles: true,
  ...more,
})

const linkInXml = '<link xmlns="http://www.w3.org/1999/xhtml" rel="preconnect" href="{http}"/>'

/** Ways from a page with files to anything beside them. */
export const files: Vector[] = [
  network(
    'link preconnect in own XML',
    script(
      "const x=new XMLHttpRequest;x.open('GET','{own}a.xml');x.onload=()=>document.body.append(document.adoptNode(x.responseXML.documentElement.firstChild));x.send()",
    ),
    { own: { 'a.xml': `<x>${linkInXml}</x>` } },
  ),
  network(
    'link preconnect in an own page that XHR reads',
    script(
      "const x=new XMLHttpRequest;x.open('GET','{own}part.html');x.responseType='document';x.onload=()=>document.body.append(document.adoptNode(x.response.querySelector('link')));x.send()",
    ),
    { own: { 'part.html': '<link rel=preconnect href={http}>' } },
  ),
  network('WebRTC of an own page in a frame', '<iframe src={own}two.html></iframe>', {
    own: {
      'two.html': script(
        "const c=new RTCPeerConnection({iceServers:[{urls:'{stun}'}]});c.createDataChannel('x');c.createOffer().then((o)=>c.setLocalDescription(o))",
      ),
    },
    by: 'datagram',
    live: ['chromium', 'firefox'],
  }),
  ...loads.flatMap(([name, page, more]) =>
    Object.entries(targets).map(([target, url]) =>
      all(`${target} by ${name}`, page(url), {
        ...more,
        ...(target === 'another version' && { isThorough: true }),
      }),
    ),
  ),
  ...carriers.flatMap(([name, page, own, more]): Vector[] => [
    all(`another app by ${name}`, page, { own: own('{other}'), ...more }),
    all(`the host by ${name}`, page, { own: own('{self}/x'), isThorough: true, ...more }),
    network(`the network by ${name}`, page, { own: own('{http}'), ...more }),
  ]),
  ...ways.flatMap(([name, path]) => [
    all(`${name} by fetch`, script(`fetch('${path}')`)),
    all(`${name} by img`, `<img src="${path.replaceAll('\\\\', '\\')}">`),
    all(
      `${name} by import()`,
      script(`import(new URL('${path}',document.querySelector('base')?.href??document.baseURI))`),
      {
        isThorough: true,
      },
    ),
  ]),
]
