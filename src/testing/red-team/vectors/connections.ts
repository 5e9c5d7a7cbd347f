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
    name: 'fetchLater',
    page: script("fetchLater('https://{host}/',{activateAfter:0})"),
    live: ['chromium'],
  },
]
