import { buildZip, descriptorOf, type ZipPart } from '../fixtures/zips.ts'
import { filesOf, type Folder } from './folder.ts'

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>'
const encoder = new TextEncoder()

/** Returns a page with images, which posts their widths and the color that a style gives. */
const gallery = (images: string[], head = ''): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>Bilder</title>${head}</head><body>${images
    .map((name) => `<img src="${name}" alt="">`)
    .join('')}<script>addEventListener('load',async()=>{const all=[...document.images];
await Promise.all(all.map((one)=>one.decode().catch(()=>0)));
top.postMessage({said:[getComputedStyle(document.body).color,...all.map((one)=>one.naturalWidth)]},'*')})</script></body></html>`

const css = 'body{color:red}'
const red = 'rgb(255, 0, 0)'
const sheet = (name: string): string => `<link rel="stylesheet" href="${name}">`

/** As the Finder of a Mac packs a folder: sizes after the data, names apart from their accents. */
const fromFinder = (name: string, text: string): ZipPart => ({
  name: encoder.encode(name.normalize('NFD')),
  text,
  flags: 8,
  mode: 0o100644,
  descriptor: descriptorOf(text),
  local: { crc: 0, packed: 0, bytes: 0 },
})

/** As .NET of Windows packed a folder. */
const fromWindows = (name: string, text: string): ZipPart => ({
  name: name.replaceAll('/', '\\'),
  text,
})

/** Returns a name in an old code page, whose bytes stand for the question mark. */
const inCodePage = (name: string, bytes: number[]): Uint8Array =>
  Uint8Array.from([...encoder.encode(name)].flatMap((one) => (one === 63 ? bytes : one)))

/** Folders whose names are not plain ASCII, and zips as systems write them. */
export const namedFolders: Folder[] = [
  {
    name: 'spaces, umlauts, parentheses and signs in names',
    files: {
      'index.html': gallery(
        ['img/Fisch (1).svg', 'img/Größe%20L.svg', 'img/100%25 &amp; %231.svg', "img/It's.svg"],
        sheet('styles (2).css'),
      ),
      'styles (2).css': css,
      'img/Fisch (1).svg': svg,
      'img/Größe L.svg': svg,
      'img/100% & #1.svg': svg,
      "img/It's.svg": svg,
    },
    says: [[red, 4, 4, 4, 4]],
  },
  {
    name: 'such names from the root of the host',
    files: {
      'index.html': gallery(
        ['/img/Fisch (1).svg', '/img/Größe L.svg'],
        `${sheet('/style.css')}<style>html{background:url("/img/Fisch (1).svg")}</style>`,
      ),
      'style.css': css,
      'img/Fisch (1).svg': svg,
      'img/Größe L.svg': svg,
    },
    says: [[red, 4, 4]],
  },
  {
    name: 'a zip of Finder, whose page spells names as its disk does',
    files: await filesOf(
      buildZip([
        { name: 'Reef/', method: 0, flags: 0, mode: 0o040755 },
        fromFinder(
          'Reef/index.html',
          gallery(['img/Köln.svg', 'img/Köln.svg'.normalize('NFD')], sheet('style.css')),
        ),
        fromFinder('__MACOSX/Reef/._index.html', 'Mac OS X'),
        fromFinder('Reef/img/Köln.svg', svg),
        fromFinder('Reef/style.css', css),
        fromFinder('Reef/.DS_Store', 'Bud1'),
      ]),
    ),
    says: [[red, 4, 4]],
  },
  {
    name: 'a zip of Windows with backslashes',
    files: await filesOf(
      buildZip([
        fromWindows('Reef/index.html', gallery(['img/Köln.svg'], sheet('css/style.css'))),
        fromWindows('Reef/img/Köln.svg', svg),
        fromWindows('Reef/css/style.css', css),
        fromWindows('Reef/Thumbs.db', 'x'),
      ]),
    ),
    says: [[red, 4]],
  },
  {
    name: 'names of code page 437',
    files: await filesOf(
      buildZip([
        { name: 'index.html', text: gallery(['img/Köln.svg'], sheet('style.css')), flags: 0 },
        { name: inCodePage('img/K?ln.svg', [0x94]), text: svg, flags: 0 },
        { name: 'style.css', text: css, flags: 0 },
      ]),
    ),
    says: [[red, 4]],
  },
  {
    name: 'names of Shift_JIS',
    files: await filesOf(
      buildZip([
        { name: 'index.html', text: gallery(['img/音.svg'], sheet('style.css')), flags: 0 },
        { name: inCodePage('img/?.svg', [0x89, 0xb9]), text: svg, flags: 0 },
        { name: 'style.css', text: css, flags: 0 },
      ]),
    ),
    says: [[red, 4]],
  },
  {
    name: 'one folder deep, with index.htm, as old editors write it',
    files: {
      'site/index.htm': gallery(['img/dot.svg'], sheet('style.css')),
      'site/img/dot.svg': svg,
      'site/style.css': css,
    },
    says: [[red, 4]],
  },
  {
    name: 'one page of another name',
    files: {
      'Reef Walk.html': gallery(['dot.svg'], sheet('style.css')),
      'dot.svg': svg,
      'style.css': css,
    },
    says: [[red, 4]],
  },
]
