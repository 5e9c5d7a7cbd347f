import { type Tab, viewport } from '../browsers/browser.ts'
import { everywhere, type Folder, page, post } from './folder.ts'

/** Clicks at the center of the page. */
export const middle = (tab: Tab): Promise<void> =>
  tab.click(viewport.width / 2, viewport.height / 2)
const fill = 'style="position:fixed;inset:0;display:block"'
const back = async (tab: Tab): Promise<void> => {
  await tab.evaluate('history.back()')
}
const forward = async (tab: Tab): Promise<void> => {
  await tab.evaluate('history.forward()')
}
const left = (tab: Tab): Promise<void> => tab.click(viewport.width / 5, viewport.height / 2)
const tell = (message: string): string =>
  `<script>addEventListener('load',()=>requestAnimationFrame(()=>requestAnimationFrame(()=>top.postMessage({said:${message}},'*'))))</script>`

/** Folders with several pages. */
export const folderPages: Folder[] = [
  {
    name: 'a click leads to another page, and the history back and forward',
    files: {
      'index.html': page(`<a ${fill} href="more/about.html#team">go</a>${tell("'first'")}`),
      'more/about.html': page(
        `<p id=team>About</p><script src=name.js></script>${tell('[self.named,location.hash,document.title]')}`,
      ),
      'more/name.js': "self.named='beside it'",
    },
    act: [
      { after: 1, run: middle },
      { after: 2, run: back },
      { after: 3, run: forward },
    ],
    says: ['first', ['beside it', '#team', 't'], 'first', ['beside it', '#team', 't']],
  },
  {
    name: 'code that no publish has changed finds the fragment before the page is read',
    files: {
      'index.html': page(`<a ${fill} href="two.html#team">go</a>${tell("'first'")}`),
      'two.html': page(
        "<script>top.postMessage({said:[self['loc'+'ation'].hash,document.readyState]},'*')</script><p id=team>Team</p>",
      ),
    },
    act: [{ after: 1, run: middle }],
    says: ['first', ['#team', 'loading']],
  },
  {
    name: 'a script leads to another page by its location, and keeps what it stored',
    files: {
      'index.html': page(
        `${tell("'first'")}<script>localStorage.n=1;onclick=()=>{location.href='two.html'}</script>`,
      ),
      'two.html': page(tell("['second',localStorage.n]")),
    },
    act: [{ after: 1, run: middle }],
    says: ['first', ['second', '1']],
  },
  {
    name: 'a link from the root without an extension',
    files: {
      'index.html': page(`<a ${fill} href="/about">go</a>${tell("'first'")}`),
      'about.html': page(tell("'about'")),
    },
    act: [{ after: 1, run: middle }],
    says: ['first', 'about'],
  },
  {
    name: 'a form leads to another page with its fields, by a button or a script',
    files: {
      'index.html': page(
        `<form action=none.html><input name=q value="a & b"><button name=by value=1 formaction=two.html ${fill}>go</button></form>${tell("'first'")}`,
      ),
      'two.html': page(
        `<form id=f><input name=n value=2></form>${tell('[...new URLSearchParams(location.search).values(),new URL(location.href).searchParams.size]')}<script>onclick=()=>f.submit()</script>`,
      ),
    },
    act: [
      { after: 1, run: middle },
      { after: 2, run: middle },
    ],
    says: ['first', ['a & b', '1', 2], ['2', 1]],
  },
  {
    name: 'a page that refreshes to another one',
    files: {
      'index.html':
        '<!doctype html><html><head><meta http-equiv="refresh" content="0; url=app/"><title>t</title></head></html>',
      'app/index.html': page(`<script src=name.js></script>${tell('self.named')}`),
      'app/name.js': "self.named='beside it'",
    },
    says: ['beside it'],
  },
  {
    name: 'a link to a fragment of the page that runs leads there, and a script assigns a query',
    files: {
      'index.html': page(
        `<a ${fill} href="index.html#team">go</a>${tell('location.search')}<script>addEventListener('hashchange',()=>{top.postMessage({said:location.hash},'*');onclick=()=>{location.search='?x=1'}})</script>`,
      ),
      'a.json': '1',
    },
    act: [
      { after: 1, run: middle },
      { after: 2, run: middle },
    ],
    says: ['', '#team', '?x=1'],
  },
  {
    name: 'a router of the history reads its paths, and goes back',
    files: {
      'index.html': page(
        `<a id=l ${fill} href="/about?x=1#team">go</a><a style="position:fixed;inset:0 60% 0 0;display:block" href="#jobs"></a><script src=/router.js></script>`,
      ),
      'router.js': `const pageLocation=1;(function(w){const show=()=>{const{pathname:a,search:b,hash:c}=w.location;top.postMessage({said:[a,b,c,location.pathname]},'*')}
w.addEventListener('popstate',show);l.onclick=(event)=>{if(event.defaultPrevented)return;event.preventDefault();history.pushState({},'',l.href);show()};show()})(window)`,
    },
    act: [
      { after: 1, run: middle },
      { after: 2, run: back },
      { after: 3, run: forward },
      { after: 4, run: left },
      { after: 5, run: back },
    ],
    says: [
      ['/', '', '', '/'],
      ['/about', '?x=1', '#team', '/about'],
      ['/', '', '', '/'],
      ['/about', '?x=1', '#team', '/about'],
      ['/about', '?x=1', '#jobs', '/about'],
      ['/about', '?x=1', '#team', '/about'],
    ],
  },
  {
    name: 'a page reads the query that it was opened with, and other objects with a location',
    files: {
      'index.html': page(`<a ${fill} href="two.html?level=3#top">go</a>${tell("'first'")}`),
      'two.html': page(
        tell(
          "[new URLSearchParams(location.search).get('level'),window.location.pathname,({location:{pathname:'own'}}).location.pathname]",
        ),
      ),
    },
    act: [{ after: 1, run: middle }],
    says: ['first', ['3', '/two.html', 'own']],
  },
  {
    name: 'a path without a page shows 404.html, which reads that path, and history goes back',
    files: {
      'index.html': page(`<a ${fill} href="/deep/none?x=1#y">go</a>${tell("'first'")}`),
      'about.html': page(''),
      '404.html': page(
        `${tell('[location.pathname,location.search,location.hash,document.URL===location.href,self.named]')}<script src=/name.js></script>`,
      ),
      'name.js': "self.named='beside it'",
    },
    act: [
      { after: 1, run: middle },
      { after: 2, run: back },
    ],
    says: ['first', ['/deep/none', '?x=1', '#y', true, 'beside it'], 'first'],
  },
  {
    name: 'a handler leads an app of one page to a path from the root, where its router starts',
    files: {
      'index.html': page(
        `<a ${fill} onclick="location='/play/2?x=1'">go</a>${tell('[location.pathname,location.search]')}<script src=a.js></script>`,
      ),
      'a.js': '',
    },
    act: [{ after: 1, run: middle }],
    says: [
      ['/', ''],
      ['/play/2', '?x=1'],
    ],
  },
  {
    name: 'a window and a document that get a location lead there, and other objects keep theirs',
    files: {
      'index.html': page(
        `${tell('((self)=>{self.location={x:7};return self.location.x})({})')}<script>onclick=()=>{window.location='two.html'}</script>`,
      ),
      'two.html': page(
        `${tell('location.pathname')}<script>onclick=()=>{document.location='/three.html'}</script>`,
      ),
      'three.html': page(tell('location.pathname')),
    },
    act: [
      { after: 1, run: middle },
      { after: 2, run: middle },
    ],
    says: [7, '/two.html', '/three.html'],
  },
  {
    name: 'links, documents and relative names are those of the URL that a script gave',
    files: {
      'index.html': page(
        '<a id=l href=b.json></a>',
        "(async()=>{history.pushState(null,'','/sub/page');return [l.href===location.origin+'/sub/b.json',l.pathname,String(l)===l.href,document.baseURI===location.href,document.URL===location.href,await (await fetch('b.json')).json(),(await fetch('/about')).status,(await fetch('/none')).status]})()",
      ),
      'sub/b.json': '2',
      'about/index.html': page(''),
    },
    says: [[true, '/sub/b.json', true, true, true, 2, 200, 404]],
  },
  {
    name: 'a page that another one replaces is not gone back to',
    files: {
      'index.html': page(`<a ${fill} href="two.html">go</a>${tell("'first'")}`),
      'two.html': page(`${tell("'two'")}<script>onclick=()=>location.replace('/three')</script>`),
      'three.html': page(tell('location.pathname')),
    },
    act: [
      { after: 1, run: middle },
      { after: 2, run: middle },
      { after: 3, run: back },
    ],
    says: ['first', 'two', '/three', 'first'],
  },
  {
    name: 'an app of one page that reloads at a route starts there, also one with two slashes',
    files: {
      'index.html': page(
        `${tell("[location.pathname,location.search,location.host===new URL(document.querySelector('base').href).host]")}<script src=a.js></script>`,
      ),
      'a.js': `onclick=()=>{history.pushState(null,'',location.pathname==='/'?'/play/2?x=1':location.origin+'//play/3');location.reload()}`,
    },
    act: [
      { after: 1, run: middle },
      { after: 2, run: middle },
    ],
    says: [
      ['/', '', true],
      ['/play/2', '?x=1', true],
      ['//play/3', '', true],
    ],
  },
  {
    name: 'a page in a frame reads its location, gives the history a URL, and leads to another',
    except: {
      firefox: 'a page in the fallback has no frames',
      webkit: 'a page in the fallback has no frames',
    },
    exceptInCopy: everywhere('no page opens in a frame of a copy'),
    files: {
      'index.html': page('<iframe src="sub/one.html?n=1#a"></iframe>'),
      'sub/one.html': page(
        `<script>onload=()=>{const{document:at,location:of}=globalThis,say=(said)=>top.postMessage({said},'*')
say([of.pathname,of.search,of.hash]);history.replaceState(null,'','?n=2');say([location.search,at===document]);window.location='/two.html'}</script>`,
      ),
      'two.html': page(tell('[location.pathname,location.href===location.origin+"/two.html"]')),
    },
    says: [
      ['/sub/one.html', '?n=1', '#a'],
      ['?n=2', true],
      ['/two.html', true],
    ],
  },
  {
    name: 'a message of a page to itself arrives with the origin of its location',
    files: {
      'index.html': page(
        '',
        'new Promise((done)=>{addEventListener("message",(event)=>event.data===7&&done([event.origin===location.origin,event.source===window]));postMessage(7,location.origin)})',
      ),
      'a.js': '',
    },
    says: [[true, true]],
  },
  {
    name: 'a page that reloads itself starts again',
    files: {
      'index.html': page(
        `${tell('sessionStorage.n=+(sessionStorage.n||0)+1')}<script>onclick=()=>location.reload()</script>`,
      ),
      'a.json': post('1'),
    },
    act: [{ after: 1, run: middle }],
    says: [1, 2],
  },
]
