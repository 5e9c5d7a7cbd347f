import { patches, script, type Vector } from '../vector.ts'

/** Leaflet loads its images by itself, so the page has an address, with them below npm/. */
const library = '{cdn}leaflet@1.9.4/dist/'
const tag = `<script src="${library}leaflet.js"></script>`
const images = `${library}images/`
const out = '../../../../../../reach/{mark}/x'

/** Ways to load a URL. `{self}` is there too, since an unprotected page has no packages. */
const loads: [name: string, load: (urls: string) => string][] = [
  ['fetch', (urls) => `for(const u of${urls})fetch(u)`],
  ['XHR', (urls) => `for(const u of${urls}){const x=new XMLHttpRequest;x.open('GET',u);x.send()}`],
  ['img', (urls) => `for(const u of${urls})new Image().src=u`],
  [
    'script',
    (urls) =>
      `for(const u of${urls}){const s=document.createElement('script');s.src=u;document.head.append(s)}`,
  ],
  ['import()', (urls) => `for(const u of${urls})import(u).catch(()=>0)`],
  [
    'importScripts',
    (urls) =>
      `for(const u of${urls})new Worker(URL.createObjectURL(new Blob(["importScripts('"+u+"')"])))`,
  ],
]

const page = (name: string, code: string, more: Partial<Vector> = {}): Vector => ({
  name,
  page: tag + script(code),
  libraries: 'there',
  ...more,
})

/** Ways out of the files that libraries load, which are below npm/ at the address of a version. */
export const packages: Vector[] = [
  ...loads.map(([name, load]) =>
    page(
      `dots after a folder of a package by ${name}`,
      load(
        `['${images}${out}','${images}..%2f..%2f..%2f..%2f..%2f..%2freach/{mark}/x','{self}/x']`,
      ),
      { by: 'host' },
    ),
  ),
  ...loads.map(([name, load]) =>
    page(
      `another host after a folder of a package by ${name}`,
      load(`['${images}{http}','${images}\\\\\\\\{host}/x','{http}']`),
    ),
  ),
  page(
    'another app by the loader of packages with another Map',
    `Map.prototype.get=()=>'{other}';fetch('${images}layers.png');fetch('{other}')`,
    { by: 'host' },
  ),
  page(
    'another path by the loader of packages with other built-in methods',
    `${patches}String.prototype.slice=()=>'${out}';fetch('${images}layers.png');fetch('{self}/x')`,
    { by: 'host' },
  ),
]
