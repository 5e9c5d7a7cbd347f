import { script, type Vector } from '../vector.ts'

const got = "top.postMessage({got:1},'*')"
const reports = (name: string, code: string, more: Partial<Vector> = {}): Vector => ({
  name,
  page: script(code),
  by: 'told',
  ...more,
})
const host = (name: string, code: string): Vector => ({ name, page: script(code), by: 'host' })

/** The site that hosts the app: its documents, storage, responses and other tabs. */
export const hosts: Vector[] = [
  reports('document of the top', `if(top.document.title!==null)${got}`),
  reports('document of the parent', `if(parent.document.body)${got}`),
  reports('cookies of the host', `if(parent.document.cookie.includes('person'))${got}`),
  reports('own cookies', `if(document.cookie.includes('person'))${got}`),
  reports('storage of the host', `if(localStorage.getItem('person'))${got}`),
  reports('storage through the top', `if(top.localStorage.getItem('person'))${got}`),
  reports(
    'databases of the host',
    `indexedDB.open('host').onsuccess=e=>{if(e.target.result.objectStoreNames.contains('treasure'))${got}}`,
  ),
  reports('caches of the host', `caches.match('/treasure').then((r)=>{if(r)${got}})`),
  reports('files of the host', `navigator.storage.getDirectory().then(()=>${got})`, {
    live: ['chromium', 'firefox'],
  }),
  reports('locks of the host', `navigator.locks.request('x',()=>${got})`),
  reports('address of the top', `if(top.location.href)${got}`),
  reports('frame element', `if(frameElement)${got}`),
  reports(
    'channel to other tabs',
    `const c=new BroadcastChannel('x');c.onmessage=e=>{if(e.data==='from the host')${got}};setInterval(()=>c.postMessage('from the app'),100)`,
  ),
  reports('answer of the host', `fetch('{self}/person').then(r=>r.text()).then(t=>{if(t)${got}})`),
  host('relative request', "fetch('/reach/{mark}/x')"),
  host('beacon to the host', "navigator.sendBeacon('{self}/person?')"),
  host('frame of the host', "location='{self}/person?'"),
  host('own wrapper by location', "location='/frame?reach-{mark}'"),
  host(
    'own wrapper by a link',
    "document.body.innerHTML='<a href=/frame?reach-{mark}>go</a>';document.links[0].click()",
  ),
  // With the patch, the query is not mapped to a hash.
  host(
    'own wrapper by reload',
    "String.prototype.startsWith=()=>true;history.replaceState(null,'',location.href+'?reach-{mark}');location.reload()",
  ),
  host(
    'form to the host',
    "document.body.innerHTML='<form action={self}/person? method=post>';document.forms[0].submit()",
  ),
  host('socket to the host', "new WebSocket('{self}/person?'.replace('http','ws'))"),
]
