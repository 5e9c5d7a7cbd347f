import { patches, script, type Vector } from '../vector.ts'

/** The function that gives code another location; nothing changes where a page is unprotected. */
const found = '(self.folderPageLocation??((one)=>one))'

/** Ways to leave by a location: those that the server changes, and those that it misses. */
const leaves: [name: string, page: (url: string) => string, more?: Partial<Vector>][] = [
  ['location of a computed name', (url) => script(`self['loca'+'tion']='${url}'`)],
  ['location by eval', (url) => script(`eval("location='${url}'")`)],
  ['location by a function of a text', (url) => script(`new Function("location='${url}'")()`)],
  ['location by Reflect', (url) => script(`Reflect.set(self,'location','${url}')`)],
  ['location of another name for the window', (url) => script(`const w=self;w.location='${url}'`)],
  ['location in a with', (url) => script(`with({w:self})w.location.href='${url}'`)],
  ['location by an array pattern', (url) => script(`[self.location]=['${url}']`)],
  ['location by a loop', (url) => script(`for(location of['${url}']);`)],
  [
    'location that is added to',
    (url) => script(`location.hash='x';location+='';location='${url}'`),
  ],
  ['location of a handler', (url) => `<svg onload="location='${url}'"></svg>`],
  [
    'location of a page with the function of folders',
    (url) => script(`function locationOfFolder(){return location}locationOfFolder().href='${url}'`),
  ],
  [
    'location by another function of folders',
    (url) => script(`self.folderPageLocation=()=>top;location.href='${url}'`),
  ],
  ['replace of a found location', (url) => script(`${found}(location).replace('${url}')`)],
  ['a found window', (url) => script(`${found}(window).location='${url}'`)],
  ['a found document', (url) => script(`${found}(document).location='${url}'`)],
  ['the parent of a found window', (url) => script(`${found}(window).parent.location='${url}'`)],
  ['the top of a found window', (url) => script(`${found}(window).top.location='${url}'`)],
  [
    'the window of a found document',
    (url) => script(`${found}(document).defaultView.location.assign('${url}')`),
  ],
  [
    'the own accessor of a found window',
    (url) =>
      script(
        `Object.getOwnPropertyDescriptor(${found}(window),'location').set.call(window,'${url}')`,
      ),
  ],
  [
    'a URL that changes while it is read',
    (url) =>
      script(
        `let n=0;location.href={toString:()=>(n++?'${url}':document.URL+'#a')};location='${url}'`,
      ),
  ],
  [
    'location after patches',
    (url) =>
      script(
        `${patches}String.prototype.startsWith=()=>true;Map.prototype.get=()=>0;location='${url}'`,
      ),
  ],
  [
    'location with other parts of a URL',
    (url) =>
      script(
        `Object.defineProperty(URL.prototype,'href',{get:()=>'${url}'});URL.parse=()=>({href:'${url}'});location.pathname='/x';location='${url}'`,
      ),
  ],
]

/** Requests after the history has moved the base of the page. */
const moves: [name: string, path: string][] = [
  ['a path', '/reach/{mark}/'],
  ['dots', '/../../reach/{mark}/'],
  ['encoded dots', '/%2e%2e/%2e%2e/reach/{mark}/'],
  ['two slashes', '//{at}/reach/{mark}/'],
]

const files = { hasFiles: true } as const

/** Ways out by the location that pages of a folder have. */
export const locations: Vector[] = [
  ...leaves.flatMap(([name, page, more]): Vector[] => [
    { name: `${name} to the network`, page: page('{http}'), ...files, ...more },
    { name: `${name} to the host`, page: page('{self}/x'), by: 'host', ...files, ...more },
  ]),
  ...moves.map(([name, path]): Vector => ({
    name: `a request after the history went to ${name}`,
    page: script(
      `history.pushState(null,'','${path}');fetch('x').catch(()=>0);new Image().src='y'`,
    ),
    by: 'host',
    ...files,
  })),
  {
    name: 'a part of location with another host',
    page: script(`location.pathname='//{host}/x';location.search='x';location='{http}'`),
    ...files,
  },
  {
    name: 'another realm by a found document',
    page: script(
      `const f=${found}(document).createElement.call(document,'iframe');document.body.append(f);const w=f.contentWindow??frames[0];const c=new(${found}(w).RTCPeerConnection)({iceServers:[{urls:'{stun}'}]});c.createDataChannel('x');c.createOffer().then((o)=>c.setLocalDescription(o))`,
    ),
    by: 'datagram',
    live: ['chromium', 'firefox'],
    ...files,
  },
  {
    name: 'WebRTC of a found window',
    page: script(
      `const c=new(${found}(window).RTCPeerConnection)({iceServers:[{urls:'{stun}'}]});c.createDataChannel('x');c.createOffer().then((o)=>c.setLocalDescription(o))`,
    ),
    by: 'datagram',
    live: ['chromium', 'firefox'],
    ...files,
  },
  {
    name: 'window.open of a found window',
    page: script(`${found}(window).open('{http}')`),
    live: ['firefox'],
    ...files,
  },
]
