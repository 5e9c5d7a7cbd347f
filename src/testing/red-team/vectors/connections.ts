import { module, script, type Vector } from '../vector.ts'

const worker = (text: string): string =>
  script(`new Worker(URL.createObjectURL(new Blob([${JSON.stringify(text)}])))`)

/** Calls that open a connection, from the page and from every kind of worker. */
export const connections: Vector[] = [
  { name: 'fetch', page: script("fetch('{http}')") },
  { name: 'fetch no-cors', page: script("fetch('{http}',{mode:'no-cors'})") },
  { name: 'fetch keepalive', page: script("fetch('{http}',{keepalive:true,mode:'no-cors'})") },
  {
    name: 'fetch POST',
    page: script("fetch('{http}',{method:'POST',body:'x',mode:'no-cors'})"),
  },
  { name: 'XHR', page: script("const x=new XMLHttpRequest;x.open('GET','{http}');x.send()") },
  {
    name: 'XHR synchronous',
    page: script("const x=new XMLHttpRequest;x.open('GET','{http}',false);x.send()"),
  },
  { name: 'sendBeacon', page: script("navigator.sendBeacon('{http}','x')") },
  { name: 'EventSource', page: script("new EventSource('{http}')") },
  { name: 'WebSocket', page: script("new WebSocket('{ws}')") },
  {
    name: 'WebSocketStream',
    page: script("new WebSocketStream('{ws}')"),
    live: ['chromium'],
  },
  { name: 'fetch by eval', page: script("eval(\"fetch('{http}',{mode:'no-cors'})\")") },
  {
    name: 'fetch by inline handler',
    page: `<svg onload="fetch('{http}',{mode:'no-cors'})"></svg>`,
  },
  { name: 'fetch in a blob worker', page: worker("fetch('{http}',{mode:'no-cors'})") },
  {
    name: 'XHR in a blob worker',
    page: worker("const x=new XMLHttpRequest;x.open('GET','{http}');x.send()"),
  },
  { name: 'WebSocket in a blob worker', page: worker("new WebSocket('{ws}')") },
  { name: 'importScripts', page: worker("importScripts('{http}')") },
  {
    name: 'fetch in a worker of a worker',
    page: worker(
      "new Worker(URL.createObjectURL(new Blob([\"fetch('{http}',{mode:'no-cors'})\"])))",
    ),
  },
  {
    name: 'fetch in a data worker',
    page: script("new Worker(\"data:text/javascript,fetch('{http}',{mode:'no-cors'})\")"),
  },
  {
    name: 'import in a module worker',
    page: script(
      "new Worker(URL.createObjectURL(new Blob([\"import '{http}'\"],{type:'text/javascript'})),{type:'module'})",
    ),
  },
  {
    name: 'fetch in a shared worker',
    page: script(
      "new SharedWorker(URL.createObjectURL(new Blob([\"fetch('{http}',{mode:'no-cors'})\"])))",
    ),
  },
  { name: 'worker script elsewhere', page: script("new Worker('{self}/worker.js')"), by: 'host' },
  {
    name: 'service worker of the host',
    page: script("navigator.serviceWorker.register('{self}/sw.js')"),
    by: 'host',
  },
  {
    name: 'paint worklet module',
    page: script("CSS.paintWorklet.addModule('{http}')"),
    live: ['chromium'],
  },
  {
    name: 'audio worklet module',
    page: script("new AudioContext().audioWorklet.addModule('{http}')"),
  },
  {
    name: 'import in an audio worklet module',
    page: script(
      "new AudioContext().audioWorklet.addModule('data:text/javascript,'+encodeURIComponent('import \"{http}\"'))",
    ),
  },
  { name: 'import()', page: script("import('{http}')") },
  { name: 'static import', page: module("import '{http}'") },
  {
    name: 'import in a data module',
    page: module('import("data:text/javascript,import \'{http}\'")'),
  },
  {
    name: 'WebTransport',
    page: script("new WebTransport('https://{host}/')"),
    by: 'datagram',
    live: ['chromium', 'firefox'],
  },
  {
    name: 'WebTransport in a blob worker',
    page: worker("new WebTransport('https://{host}/')"),
    by: 'datagram',
    live: ['chromium', 'firefox'],
  },
  { name: 'EventSource in a blob worker', page: worker("new EventSource('{http}')") },
  {
    name: 'payment method',
    page: script(
      "new PaymentRequest([{supportedMethods:'https://{host}/'}],{total:{label:'x',amount:{currency:'USD',value:'1'}}}).canMakePayment()",
    ),
    live: ['chromium'],
  },
  {
    name: 'identity provider',
    page: script(
      "navigator.credentials.get({identity:{providers:[{configURL:'https://{host}/fedcm.json',clientId:'x'}]}})",
    ),
    live: ['chromium'],
  },
  {
    name: 'fetchLater',
    page: script("fetchLater('https://{host}/',{activateAfter:0})"),
    live: ['chromium'],
  },
]

const link = (rel: string): string => `<link rel=${rel} href=//{name}:9>`
const all = (vectors: Omit<Vector, 'by'>[]): Vector[] =>
  vectors.map((vector) => ({ live: ['chromium', 'firefox'], ...vector, by: 'lookup' }))

/** Host lookups. A name alone can carry a message. WebKit leaves no log of its own. */
export const lookups: Vector[] = all([
  { name: 'dns-prefetch', page: link('dns-prefetch') },
  {
    name: 'dns-prefetch by DOM',
    page: script(
      "const l=document.createElement('link');l.rel='dns-prefetch';l.href='//{name}:9';document.head.append(l)",
    ),
  },
  {
    name: 'dns-prefetch by innerHTML',
    page: script("document.body.innerHTML='<link rel=dns-prefetch href=//{name}:9>'"),
  },
  { name: 'dns-prefetch behind a word', page: `a${link('dns-prefetch')}` },
  { name: 'dns-prefetch in a broken tag', page: `<p a<base=b><i<link>${link('dns-prefetch')}` },
  {
    name: 'dns-prefetch in SVG',
    page: `<svg><foreignObject>${link('dns-prefetch')}</foreignObject></svg>`,
  },
  {
    name: 'dns-prefetch by a fragment',
    page: script(
      "document.head.append(document.createRange().createContextualFragment('<link rel=dns-prefetch href=//{name}:9>'))",
    ),
  },
  { name: 'preconnect by name', page: link('preconnect') },
  { name: 'img by name', page: '<img src=http://{name}:9/>', live: ['chromium'] },
  { name: 'WebSocket by name', page: script("new WebSocket('ws://{name}:9/')") },
  {
    name: 'links in view',
    page: '<meta http-equiv=x-dns-prefetch-control content=on><a href=http://{name}:9/>x</a>',
    live: ['firefox'],
  },
])
