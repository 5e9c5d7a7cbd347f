import { module, script, type Vector } from '../vector.ts'

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
  ['audio worklet', (url) => script(`new AudioContext().audioWorklet.addModule('${url}')`)],
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
  [
    'speculation',
    (url) => {
      const rules = JSON.stringify({ prefetch: [{ urls: [url], eagerness: 'immediate' }] })
      return script(
        `const s=document.createElement('script');s.type='speculationrules';s.textContent='${rules}';document.head.append(s)`,
      )
    },
    { live: ['chromium'], alone: true },
  ],
]

const worker = (text: string): string =>
  script(`new Worker(URL.createObjectURL(new Blob([${JSON.stringify(text)}])))`)

/** Addresses beside the files of a page: of another app, of a guessed token, of the host. */
const targets = {
  'another app': '{other}',
  'a guessed token': '{guess}',
  'the host': '{self}/x',
}

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

/** Ways from a page with files to anything beside them. */
export const files: Vector[] = [
  ...loads.flatMap(([name, page, more]) =>
    Object.entries(targets).map(([target, url]) => all(`${target} by ${name}`, page(url), more)),
  ),
  ...ways.flatMap(([name, path]) => [
    all(`${name} by fetch`, script(`fetch('${path}')`)),
    all(`${name} by img`, `<img src="${path.replaceAll('\\\\', '\\')}">`),
  ]),
]
