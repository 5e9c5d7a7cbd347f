/** Habits of folders, each compared with a plain static host. One list, since all run alike. */
import { brotliCompressSync } from 'node:zlib'

import { fakeImage } from '../fakes/media-scripts.ts'
import { makeWav } from '../fixtures/wav.ts'
import { everywhere, type Folder, loads, page, post } from './folder.ts'

const png = Uint8Array.from(Buffer.from(fakeImage, 'base64'))
/** A module that exports add(a, b). */
const wasm = Uint8Array.from(
  Buffer.from('AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABagsAPg==', 'base64'),
).subarray(0, 41)
const brotli = (content: string | Uint8Array): Uint8Array =>
  new Uint8Array(brotliCompressSync(content))
const red = 'rgb(255, 0, 0)'
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><rect width="4" height="4"/></svg>'
const colorOf = (selector: string): string =>
  `getComputedStyle(document.querySelector('${selector}')).color`
const pixel = (source: string): string =>
  `(()=>{const k=document.createElement('canvas').getContext('2d');k.drawImage(${source},0,0);return k.getImageData(0,0,1,1).data.length})()`

/** Folders as they are written by hand: names of files in every place that loads one. */
export const plainFolders: Folder[] = [
  {
    name: 'modules import each other, statically and later',
    files: {
      'index.html': page('<script type=module src=js/main.js></script>'),
      'js/main.js': `import {\n  one,\n} from './parts/one.js'\n${post("(async()=>[one,(await import('./parts/two.js')).two,new URL('x.png',import.meta.url).pathname.endsWith('/js/x.png')])()")}`,
      'js/parts/one.js': 'export const one = 1',
      'js/parts/two.js': "export { one as two } from './one.js'",
    },
    says: [[1, 1, true]],
  },
  {
    name: 'a module imports others by names that it computes',
    files: {
      'index.html': page('<script type=module src=js/main.js></script>'),
      'js/main.js': `const names=['./parts/one.js','/js/parts/one.js'];const n='one';const all=[await import(names[0]),await import('./parts/'+n+'.js'),await import(/* one */ \`./parts/\${n}.js\`),await import(new URL(names[0],import.meta.url).href)];all.push(...await Promise.all([import(names[0]),import(names[1])]));let last;if(n)last=import(names[0]);if(n)import(names[1]).then(()=>0)\nimport(names[0]).then(()=>0);all.push(await last);const o={a:1,import(x){return x}};class C{b=1;import(x,y){return y}}${post('[...all.map((m)=>m.one),o.import(3),new C().import(1,4)]')}`,
      'js/parts/one.js': 'export const one = 1',
    },
    says: [[1, 1, 1, 1, 1, 1, 1, 3, 4]],
  },
  {
    name: 'style sheets import others and name images and fonts from their own folder',
    exceptInCopy: everywhere('it reads the URLs of images, which are blob: URLs'),
    files: {
      'index.html': page(
        '<link rel=stylesheet href=css/main.css><p>x</p>',
        `(async()=>{if(document.readyState!=='complete')await new Promise((done)=>addEventListener('load',done));return [${colorOf('p')},getComputedStyle(document.body).backgroundImage.endsWith('/img/dot.png")')]})()`,
      ),
      'css/main.css': "@import url('parts/colors.css');body{background:url(../img/dot.png)}",
      'css/parts/colors.css': 'p{color:red}',
      'img/dot.png': png,
    },
    says: [[red, true]],
  },
  {
    name: 'a style sheet for print that its onload applies, as Angular writes it',
    files: {
      'index.html': page(
        `<link rel=stylesheet href=styles.css media=print onload="this.media='all'"><p>x</p>`,
        `new Promise((done)=>{const look=()=>${colorOf('p')}==='${red}'?done('red'):requestAnimationFrame(look);look()})`,
      ),
      'styles.css': 'p{color:red}',
    },
    says: ['red'],
  },
  {
    name: 'images, sounds and data by every element and request',
    files: {
      'index.html': page(
        '<img id=a src="img/Ship 1.png"><audio id=s src=hit.wav></audio>',
        `(async()=>{const b=new Image();b.src='img/dot.png';await b.decode();
const c=document.createElement('img');c.setAttribute('src','img/dot.png');await c.decode();
const d=document.createElement('div');document.body.append(d);d.innerHTML='<img src="img/dot.png">';await d.firstChild.decode();
await a.decode();const s2=new Audio('hit.wav');
const x=new XMLHttpRequest;x.open('GET','data/a.json');const sent=new Promise((done)=>x.onload=done);x.send();await sent;
return [a.naturalWidth>0,b.src.endsWith('/img/dot.png'),(await (await fetch('data/a.json')).json()).n,JSON.parse(x.responseText).n,(await fetch('none.json')).status,s2.src.endsWith('/hit.wav'),${pixel('a')},${pixel('b')},${pixel('c')},${pixel('d.firstChild')}]})()`,
      ),
      'img/Ship 1.png': png,
      'img/dot.png': png,
      'hit.wav': makeWav(),
      'data/a.json': '{"n":7}',
    },
    says: [[true, true, 7, 7, 404, true, 4, 4, 4, 4]],
  },
  {
    name: 'classic and module workers load scripts and data beside them, and start others',
    files: {
      'index.html': page(
        '',
        `Promise.all([new Worker('w/classic.js'),new Worker(new URL('w/module.js',document.baseURI),{type:'module'})].map((w)=>new Promise((done)=>{w.onmessage=(e)=>done(e.data);w.onerror=(e)=>done('failed '+e.message);w.postMessage(1)})))`,
      ),
      'w/classic.js':
        "importScripts('part.js');onmessage=async(e)=>{const w=new Worker('inner.js');w.onmessage=async(f)=>postMessage([part,e.data,f.data,await(await fetch('a.json')).json(),location.pathname.endsWith('/w/classic.js')])}",
      'w/part.js': 'self.part=2',
      'w/inner.js': 'postMessage(3)',
      'w/module.js':
        "import {value} from './value.js';onmessage=async(e)=>postMessage([value,e.data,await(await fetch(new URL('a.json',import.meta.url))).json()])",
      'w/value.js': 'export const value=5',
      'w/a.json': '[4]',
    },
    says: [
      [
        [2, 1, 3, [4], true],
        [5, 1, [4]],
      ],
    ],
  },
  {
    name: 'WebAssembly that streams',
    files: {
      'index.html': page(
        '',
        "(async()=>(await WebAssembly.instantiateStreaming(fetch('add.wasm'))).instance.exports.add(2,3))()",
      ),
      'add.wasm': wasm,
    },
    says: [5],
  },
  {
    name: 'symbols of an SVG file, and srcset',
    exceptInCopy: everywhere('it reads the URL of an image, which is a blob: URL'),
    files: {
      'index.html': page(
        '<svg id=v width=20 height=20><use href="icons.svg#dot"/></svg><img id=i srcset="dot.png 1x, dot.png 2x">',
        `(async()=>{await i.decode();await new Promise((done)=>{const look=()=>v.getBBox().width>0?done():requestAnimationFrame(look);look()});return [i.currentSrc.endsWith('/dot.png'),v.getBBox().width]})()`,
      ),
      'icons.svg':
        '<svg xmlns="http://www.w3.org/2000/svg"><symbol id="dot" viewBox="0 0 10 10"><rect width="10" height="10"/></symbol></svg>',
      'dot.png': png,
    },
    says: [[true, 20]],
  },
  {
    name: 'addresses worked out from the location',
    files: {
      'index.html': page(
        '',
        `(async()=>[(await fetch(new URL('a.json',location))).status,(await fetch(new URL('a.json',location.href).href)).status,(await fetch(location.origin+'/a.json')).status,document.baseURI===location.href,document.URL===location.href&&location.pathname==='/',new URL('a.json',document.baseURI).pathname.endsWith('/a.json')])()`,
      ),
      'a.json': '1',
    },
    says: [[200, 200, 200, true, true, true]],
  },
  {
    name: 'service.assets has the same files',
    files: {
      'index.html': page(
        '',
        "(async()=>{const s=service.assets;return [await s.ready,(await s.json('data/a.json')).n,(await s.image('img/dot.png')).naturalWidth>0,s.url('none'),await s.bytes('none')]})()",
      ),
      'data/a.json': '{"n":3}',
      'img/dot.png': png,
    },
    says: [[['data/a.json', 'img/dot.png'], 3, true, '', null]],
  },
  {
    name: 'a build for the root of a host, as Vite makes it by default',
    exceptInCopy: everywhere('it reads the URL of an image, which is a blob: URL'),
    files: {
      'index.html': `<!doctype html><html><head><script type="module" crossorigin src="/assets/index.js"></script><link rel="stylesheet" crossorigin href="/assets/index.css"></head><body><img id=i src="/assets/dot.png"><p>x</p></body></html>`,
      'assets/index.js': `import './part.js';const link=document.createElement('link');link.rel='stylesheet';link.href='/assets/late.css';const late=${loads('link')};document.head.append(link);
${post(`(async()=>{const j=new Image;j.src='/assets/dot.png';await j.decode();await i.decode();await late;const d=document.createElement('div');d.innerHTML='<img src="/assets/dot.png">';await d.firstChild.decode();return [self.part,(await import('/assets/chunk.js')).chunk,(await fetch('/assets/a.json')).status,${colorOf('p')},getComputedStyle(document.body).backgroundImage.endsWith('/assets/dot.png")'),getComputedStyle(document.body).cursor]})()`)}`,
      'assets/part.js': 'self.part=1',
      'assets/chunk.js': 'export const chunk=2',
      'assets/index.css': 'p{color:red}body{background:url(/assets/dot.png)}',
      'assets/late.css': 'body{cursor:help}',
      'assets/a.json': '1',
      'assets/dot.png': png,
    },
    says: [[1, 2, 200, red, true, 'help']],
  },
  {
    name: 'a build for the root of a host: srcset, CSS that scripts write, scopes of an import map',
    exceptInCopy: everywhere('it reads the URLs of images, which are blob: URLs'),
    files: {
      'index.html': `<!doctype html><html><head><script type="importmap">{"imports":{"part":"/js/one.js","lib/":"/lib/"},"scopes":{"/old/":{"part":"/js/two.js"}}}</script></head><body><div id=d></div><script type="module">import { one } from 'part';import { two } from '/old/use.js';import { deep } from 'lib/deep.js'
${post(`(async()=>{d.innerHTML='<picture><source srcset="/img/dot.png 1x, /img/two.png 2x"><img></picture><p style="background:url(/img/dot.png)"></p>';
const ends=(url,name)=>url.startsWith('http')&&url.includes('/f/')&&url.endsWith(name);const drawn=(e)=>getComputedStyle(e).backgroundImage.slice(5,-2);
const i=d.querySelector('img');await i.decode();const j=new Image;j.srcset='/img/dot.png 1x, /img/two.png 2x';await j.decode();
const e=document.createElement('div');document.body.append(e);e.style.backgroundImage='url("/img/dot.png")';
const s=document.createElement('style');s.textContent='#d{background:url(/img/two.png)}';document.head.append(s);
const sheet=new CSSStyleSheet();sheet.replaceSync('body{background:url(/img/dot.png)}');document.adoptedStyleSheets=[sheet];await 0;
return [one,two,deep,ends(i.currentSrc,'/img/dot.png'),ends(j.currentSrc,'/img/dot.png'),ends(drawn(d.querySelector('p')),'/img/dot.png'),ends(drawn(e),'/img/dot.png'),ends(drawn(d),'/img/two.png'),ends(drawn(document.body),'/img/dot.png')]})()`)}</script></body></html>`,
      'js/one.js': 'export const one=1',
      'js/two.js': 'export const one=2',
      'old/use.js': "export { one as two } from 'part'",
      'lib/deep.js': 'export const deep=3',
      'img/dot.png': png,
      'img/two.png': png,
    },
    says: [[1, 2, 3, true, true, true, true, true, true]],
  },
  {
    name: 'a picture in a data URL, with text that looks like the name of a file',
    files: {
      'index.html': page(
        '',
        `(async()=>{const url='data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><text>go to /dot.png 2x</text></svg>';
const i=new Image;i.src=url;await i.decode();const j=document.createElement('img');j.setAttribute('src',url);await j.decode();return [i.src===url,j.getAttribute('src')===url,j.naturalWidth]})()`,
      ),
      'dot.png': png,
    },
    says: [[true, true, 4]],
  },
  {
    name: 'a page reads the settings in a meta element of its head',
    files: {
      'index.html': `<!doctype html><html><head><meta name="reef/config" content="%7B%22n%22%3A7%7D"></head><body><script type="module">${post(
        'JSON.parse(decodeURIComponent(document.querySelector(\'meta[name="reef/config"]\').content)).n',
      )}</script></body></html>`,
      'a.json': '1',
    },
    says: [7],
  },
  {
    name: 'requests that wait, and those for the headers of a file',
    exceptInCopy: everywhere('a blob: URL answers GET alone'),
    files: {
      'index.html': page(
        '',
        "(async()=>{const x=new XMLHttpRequest;x.open('GET','level.txt',false);x.send();const r=await fetch('level.txt',{method:'HEAD'});const part=await fetch('level.txt',{headers:{range:'bytes=1-2'}});return [x.responseText,r.headers.get('content-length'),part.status,await part.text()]})()",
      ),
      'level.txt': 'hello',
    },
    says: [['hello', '5', 206, 'el']],
  },
  {
    name: 'a page with a base of its own, as Angular writes it',
    files: {
      'index.html': `<!doctype html><html><head><base href="/"><script src="main.js" type="module"></script></head><body></body></html>`,
      'main.js': post("(async()=>(await fetch('a.json')).status)()"),
      'a.json': '1',
    },
    says: [200],
  },
  {
    name: 'an import map of the page, with names of files and of the root',
    files: {
      'index.html': `<!doctype html><html><head><script type="importmap">{"imports":{"part":"./js/part.js","lib/":"./lib/"}}</script><script type="module">import { part } from 'part';import { deep } from 'lib/deep.js';import { root } from '/js/root.js'
${post('[part,deep,root]')}</script></head><body></body></html>`,
      'js/part.js': 'export const part=1',
      'lib/deep.js': 'export const deep=2',
      'js/root.js': 'export const root=3',
    },
    says: [[1, 2, 3]],
  },
  {
    name: 'a build of Unity with parts that brotli compressed',
    exceptInCopy: everywhere('compressed parts do not work in a copy'),
    files: {
      'index.html': page(
        '<script src=Build/game.loader.js></script>',
        `(async()=>{const s=document.createElement('script');s.src='Build/game.framework.js.br';const late=${loads('s')};document.body.append(s);await late;
const data=await (await fetch('Build/game.data.br')).text();const r=await fetch('Build/game.wasm.br');
return [loader,framework,data,(await WebAssembly.instantiateStreaming(r)).instance.exports.add(2,3)]})()`,
      ),
      'Build/game.loader.js': 'self.loader=1',
      'Build/game.framework.js.br': brotli('self.framework=2'),
      'Build/game.data.br': brotli('scene'),
      'Build/game.wasm.br': brotli(wasm),
    },
    says: [[1, 2, 'scene', 5]],
  },
  {
    name: 'requests with credentials, modes and headers that a host of its own would get',
    files: {
      'index.html': page(
        '',
        `(async()=>{const read=async(...given)=>(await fetch(...given)).json();
const x=new XMLHttpRequest;x.open('GET','a.json');x.withCredentials=true;x.setRequestHeader('Cache-Control','no-cache');
const sent=new Promise((done)=>{x.onload=()=>done(+x.responseText);x.onerror=()=>done('failed')});x.send();
const w=new Worker('w.js');const inside=new Promise((done)=>{w.onmessage=(e)=>done(e.data)});
return [await read('a.json',{credentials:'include',headers:{'X-Requested-With':'XMLHttpRequest','Content-Type':'application/json'}}),
await read('a.json',{mode:'no-cors'}),await read(new Request('a.json',{mode:'same-origin'})),await sent,await inside]})()`,
      ),
      'w.js':
        "fetch('a.json',{credentials:'include',headers:{'X-Part':'1'}}).then((r)=>r.json()).then(postMessage,(e)=>postMessage(String(e)))",
      'a.json': '7',
    },
    says: [[7, 7, 7, 7, 7]],
  },
  {
    name: 'a page that waits for its service worker, and has a policy',
    files: {
      'index.html': `<!doctype html><html><head><meta http-equiv="Content-Security-Policy" content="default-src 'self'; worker-src 'self'"><script type="module" src="main.js"></script></head><body><img src="a.svg" crossorigin="use-credentials"></body></html>`,
      'main.js': `${post(
        "(async()=>{const r=await navigator.serviceWorker.register('sw.js');r.addEventListener('updatefound',()=>0);await document.images[0].decode();return [r.active,document.images[0].naturalWidth,await new Promise((done)=>{new Worker('w.js').onmessage=(e)=>done(e.data)})]})()",
      )}`,
      'w.js': "importScripts('part.js');postMessage(part)",
      'part.js': 'var part=2',
      'sw.js': '',
      'a.svg': svg,
    },
    says: [[null, 4, 2]],
  },
  {
    name: 'a script changes and turns off style sheets, and reads their links',
    files: {
      'index.html': page(
        '<link id=theme rel=stylesheet href=light.css><link id=more rel=stylesheet href=more.css><p>x</p>',
        `(async()=>{if(document.readyState!=='complete')await new Promise((done)=>addEventListener('load',done));
const until=async(color)=>{for(let n=0;n<200&&${colorOf('p')}!==color;n++)await new Promise(requestAnimationFrame);return ${colorOf('p')}};
const found=[await until('rgb(0, 128, 0)')];document.getElementById('more').disabled=true;found.push(await until('${red}'));
const link=document.querySelector('link[rel=stylesheet]');link.href='dark.css';found.push(await until('rgb(0, 0, 255)'),link===theme);
link.setAttribute('href','light.css');found.push(await until('${red}'),link.href.endsWith('/light.css'));return found})()`,
      ),
      'light.css': 'p{color:red}',
      'dark.css': 'p{color:blue}',
      'more.css': 'p{color:green}',
    },
    says: [['rgb(0, 128, 0)', red, 'rgb(0, 0, 255)', true, red, true]],
  },
  {
    name: 'pictures in object and embed elements, and symbols in a shadow root',
    files: {
      'index.html': page(
        `<object data="a.svg" type="image/svg+xml" width="40">no pictures</object><embed src="a.svg" width="30"><svg><use href="i.svg#none"></use></svg>`,
        `(async()=>{const host=document.createElement('div');document.body.append(host);host.attachShadow({mode:'open'}).innerHTML='<svg><use href="i.svg#s"></use></svg>';
const inner=host.shadowRoot.querySelector('use'),outer=document.querySelector('use');outer.setAttribute('href','i.svg#s');
for(let n=0;n<200&&!(inner.getBBox().width*outer.getBBox().width);n++)await new Promise(requestAnimationFrame);
return [...[...document.images].map((one)=>one.width),inner.getBBox().width,outer.getBBox().width,document.body.innerText.includes('no pictures')]})()`,
      ),
      'a.svg': svg,
      'i.svg':
        '<svg xmlns="http://www.w3.org/2000/svg"><symbol id="s"><rect width="4" height="4"/></symbol></svg>',
    },
    says: [[40, 30, 4, 4, false]],
  },
  {
    name: 'names that go above the root, where a host has nothing',
    files: {
      'index.html': page(
        '<img src="../img/a.svg">',
        "(async()=>{await document.images[0].decode().catch(()=>0);const inWorker=new Promise((done)=>{new Worker('w/a.js').onmessage=(e)=>done(e.data)});return [document.images[0].naturalWidth,(await fetch('../a.json')).status,(await fetch('img/../../a.json')).status,(await fetch('/f/b.json')).status,await inWorker]})()",
      ),
      'w/a.js':
        "Promise.all(['../a.json','../../a.json','../../../a.json','/f/b.json','/none.json'].map((url)=>fetch(url).then((r)=>r.ok&&r.json(),()=>false))).then(postMessage)",
      'img/a.svg': svg,
      'a.json': '1',
      'f/b.json': '2',
    },
    says: [[4, 200, 200, 200, [1, 1, 1, 2, false]]],
  },
  {
    name: 'pages of the folder in a frame, which a link and a script change',
    except: {
      firefox: 'a page in the fallback has no frames',
      webkit: 'a page in the fallback has no frames',
    },
    exceptInCopy: everywhere('no page opens in a frame of a copy'),
    files: {
      'index.html': `<!doctype html><html><head><meta charset=utf-8><title>t</title></head><body><iframe name=view src="more/one.html?n=1"></iframe><a id=link target=view href="more/two.html">two</a><script>
const steps=[()=>link.click(),()=>{document.querySelector('iframe').src='more/one.html?n=3'},()=>0],found=[]
addEventListener('message',({data})=>{if(!data.inner)return;found.push(data.inner);steps.shift()();if(found.length===3)top.postMessage({said:found},'*')})</script></body></html>`,
      'more/one.html':
        '<!doctype html><img src=a.svg><script>onload=()=>{localStorage.n=1;parent.postMessage({inner:document.images[0].naturalWidth},"*")}</script>',
      'more/two.html': '<script src=two.js></script>',
      'more/two.js': 'parent.postMessage({inner:"two"},"*")',
      'more/a.svg': svg,
    },
    says: [[4, 'two', 4]],
  },
  {
    name: 'a frame with a text of the page keeps it when its source changes',
    except: {
      firefox: 'a page in the fallback has no frames',
      webkit: 'a page in the fallback has no frames',
    },
    files: {
      'index.html': page(
        '<iframe srcdoc="<p>own</p>"></iframe>',
        "(async()=>{const frame=document.querySelector('iframe');frame.src='one.html';await 0;return frame.getAttribute('srcdoc')})()",
      ),
      'one.html': '<p>one</p>',
    },
    says: ['<p>own</p>'],
  },
  {
    name: 'code that a page shows',
    files: {
      'index.html': page(
        `<script id=c type="text/plain">import('./m/a.js')</script><p id=d title="import('./m/a.js')"></p>`,
        '[c.text,d.title]',
      ),
      'm/a.js': 'export const a=1',
    },
    says: [["import('./m/a.js')", "import('./m/a.js')"]],
  },
  {
    name: 'links that scripts insert, also in a shadow root, and lists of links and settings',
    files: {
      'index.html': `<!doctype html><html><head><meta name=n content=7><link rel=stylesheet href=a.css><script src=card.js type=module></script></head><body><p>x</p><reef-card></reef-card><script type=module>${post(
        `(async()=>{document.body.insertAdjacentHTML('beforeend','<link rel="stylesheet" href="b.css">');
const shown=()=>[${colorOf('p')},getComputedStyle(document.querySelector('reef-card').shadowRoot.querySelector('b')).color];
for(let n=0;n<300&&shown()[1]!=='${red}';n++)await new Promise(requestAnimationFrame);for(let n=0;n<300&&shown()[0]!=='${red}';n++)await new Promise(requestAnimationFrame);
return [...shown(),document.querySelectorAll('link[rel=stylesheet]').length,[...document.getElementsByTagName('meta')].map((one)=>one.content),document.querySelectorAll('meta[name=n]')[0].content]})()`,
      )}</script></body></html>`,
      'card.js':
        "customElements.define('reef-card',class extends HTMLElement{connectedCallback(){this.attachShadow({mode:'open'}).innerHTML='<link rel=stylesheet href=card.css><b>x</b>'}})",
      'a.css': 'p{color:blue}',
      'b.css': 'p{color:red}',
      'card.css': 'b{color:red}',
    },
    says: [[red, red, 2, ['7'], '7']],
  },
  {
    name: 'documents by XMLHttpRequest, and modules of classic scripts and handlers',
    files: {
      'index.html': page(
        `<b id=b onclick="import('./m/a.js').then((m)=>{self.pressed=m.a})"></b><script>import('./m/a.js').then((m)=>{self.inline=m.a})</script>`,
        `(async()=>{const load=(url,type)=>new Promise((done)=>{const x=new XMLHttpRequest;x.open('GET',url);x.responseType=type;x.onload=()=>done(x);x.send()});
b.click();const xml=await load('a.xml',''),html=await load('part.html','document');
for(let n=0;n<300&&!(self.pressed&&self.inline);n++)await new Promise(requestAnimationFrame);
return [xml.responseXML.querySelector('b').textContent,html.response.querySelector('p').textContent,self.pressed,self.inline]})()`,
      ),
      'm/a.js': 'export const a=1',
      'a.xml': '<a><b>7</b></a>',
      'part.html': '<p>hi</p>',
    },
    says: [['7', 'hi', 1, 1]],
  },
  {
    name: 'fonts of Google that a style sheet of the folder imports',
    sheets: ['https://fonts.googleapis.com/css2?family=Inter:wght@400;700&display=swap'],
    files: {
      'index.html': page(
        '<link rel=stylesheet href=style.css><p>x</p>',
        "(async()=>(await document.fonts.load('700 16px Inter')).length>0)()",
      ),
      'style.css':
        '@import url("https://fonts.googleapis.com/css2?family=Inter:wght@400;700&display=swap");\np{font-family:Inter}',
    },
    says: [true],
  },
  {
    name: 'a page that locks keys for full screen',
    files: {
      'index.html': page('', "(async()=>{await navigator.keyboard?.lock();return 'locked'})()"),
    },
    says: ['locked'],
  },
]
