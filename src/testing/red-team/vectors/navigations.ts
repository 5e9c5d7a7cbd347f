import { script, type Vector } from '../vector.ts'

const big = 'style="position:fixed;inset:0;display:block;font-size:99px"'
const form = (attributes: string): string =>
  `<form ${attributes}><input name=a value=1><button ${big}>go</button></form>`

/** Rewrites the whole page after it has loaded, which removes the old listeners. */
const anew = (html: string, more = ''): string =>
  script(
    `setTimeout(()=>{document.open();document.write('${html}');${more}document.close();top.postMessage({ran:1},'*')},50)`,
  )

/** Leaving the page, opening another one, and warm-up requests of browsers. */
export const navigations: Vector[] = [
  { name: 'location.href', page: script("location.href='{http}'") },
  { name: 'location.replace', page: script("location.replace('{http}')") },
  { name: 'top.location', page: script("top.location='{http}'") },
  { name: 'parent.location', page: script("parent.location='{http}'") },
  {
    name: 'navigation.navigate',
    page: script("navigation.navigate('{http}')"),
    live: ['chromium', 'firefox'],
  },
  { name: 'javascript: location', page: script('location="javascript:fetch(\'{http}\')"') },
  { name: 'meta refresh', page: '<meta http-equiv=refresh content="0;url={http}">' },
  {
    name: 'meta refresh by DOM',
    page: script(
      "const m=document.createElement('meta');m.httpEquiv='refresh';m.content='0;url={http}';document.head.append(m)",
    ),
  },
  { name: 'window.open', page: script("window.open('{http}')"), live: ['firefox'] },
  {
    name: 'window.open below ours',
    page: script("const o=open;delete window.open;(window.open||o)('{http}')"),
    live: ['firefox'],
  },
  {
    name: 'window.open on a press',
    page: script("addEventListener('click',()=>window.open('{http}','_blank','noopener'))"),
    hand: 'click',
  },
  { name: 'link', page: `<a ${big} href={http}>go</a>`, hand: 'click' },
  { name: 'link to a new tab', page: `<a ${big} target=_blank href={http}>go</a>`, hand: 'click' },
  { name: 'link by the middle button', page: `<a ${big} href={http}>go</a>`, hand: 'middle' },
  {
    name: 'link by Enter',
    page: `<a ${big} href={http} id=a>go</a>${script("const f=()=>a.focus();f();addEventListener('focus',f)")}`,
    hand: 'Enter',
  },
  { name: 'link by script', page: `<a href={http} id=a>go</a>${script('a.click()')}` },
  {
    name: 'link that is in no document',
    page: script("const a=document.createElement('a');a.href='{http}';a.click()"),
  },
  {
    name: 'link that is downloaded',
    page: `<a ${big} download href={http}>go</a>`,
    hand: 'click',
  },
  {
    name: 'link with a ping',
    page: `<a ${big} ping={http} href=#x>go</a>`,
    hand: 'click',
    live: ['chromium', 'webkit'],
  },
  {
    name: 'area',
    page: `<map name=m><area shape=default href={http}></map><img usemap=#m ${big} src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='900' height='900'/>">`,
    hand: 'click',
  },
  {
    name: 'SVG link',
    page: `<svg ${big} width=100% height=100%><a href={http}><rect width=100% height=100% /></a></svg>`,
    hand: 'click',
  },
  {
    name: 'SVG link that is shown by use',
    page: `<svg ${big} width=1280 height=800><defs><g id=l><a href={http}><rect width=1280 height=800 /></a></g></defs><use href=#l /></svg>`,
    hand: 'click',
  },
  {
    name: 'SVG link in a shadow root that is shown by use',
    page: `<div id=d></div>${script(`d.attachShadow({mode:'closed'}).innerHTML='<svg ${big} width=1280 height=800><defs><a id=l href={http}><rect width=1280 height=800 /></a></defs><use href=#l /></svg>'`)}`,
    hand: 'click',
  },
  {
    name: 'link in SVG that is shown by use',
    page: `<svg ${big} width=1280 height=800><defs><foreignObject id=l width=1280 height=800><a ${big} href={http}>go</a></foreignObject></defs><use href=#l /></svg>`,
    hand: 'click',
    live: ['firefox'],
  },
  {
    name: 'a press that is undone',
    page: `<a ${big} href={http}>go</a>${script("addEventListener('click',e=>e.preventDefault(),true)")}`,
    hand: 'click',
    live: ['firefox'],
  },
  {
    name: 'link in a rewritten document',
    page: anew(`<a ${big} href={http}>go</a>`),
    hand: 'click',
  },
  {
    name: 'SVG link in a rewritten document',
    page: anew(
      `<svg ${big} width=100% height=100%><a href={http}><rect width=100% height=100% /></a></svg>`,
    ),
    hand: 'click',
  },
  {
    name: 'link in a document that is written anew',
    page: script(
      `addEventListener('load',()=>setTimeout(()=>{document.write('<a ${big} href={http}>go</a>');document.close()},50))`,
    ),
    hand: 'click',
  },
  {
    name: 'link whose press is taken away in between',
    page: script(
      `customElements.define('x-x',class extends HTMLElement{disconnectedCallback(){for(const t of ['mousedown','pointerdown','click'])addEventListener(t,e=>{e.stopImmediatePropagation()},true)}});document.body.append(document.createElement('x-x'));` +
        `setTimeout(()=>{document.open();document.write('<a ${big} href={http}>go</a>');document.close()},50)`,
    ),
    hand: 'click',
  },
  {
    name: 'link that leads out once it is pressed',
    page: `<a ${big} href=#x id=a>go</a>${script("addEventListener('mousedown',()=>{a.href='{http}'},true)")}`,
    hand: 'click',
  },
  {
    name: 'MathML link that leads out once it is pressed',
    page: `<math ${big} id=m><mtext style="font-size:600px">go</mtext></math>${script("addEventListener('mousedown',()=>m.setAttribute('href','{http}'),true)")}`,
    hand: 'click',
    live: ['firefox', 'webkit'],
  },
  { name: 'form GET', page: form('action={http}'), hand: 'click' },
  { name: 'form by script', page: form('action={http} id=f') + script('f.submit()') },
  { name: 'form by requestSubmit', page: form('action={http} id=f') + script('f.requestSubmit()') },
  {
    name: 'form by the action of its button',
    page: `<form><input name=a value=1><button ${big} formaction={http}>go</button></form>`,
    hand: 'click',
  },
  { name: 'form to a new tab', page: form('target=_blank action={http}'), hand: 'click' },
  { name: 'link to the top', page: `<a ${big} target=_top href={http}>go</a>`, hand: 'click' },
  { name: 'iframe', page: '<iframe src={http}></iframe>' },
  { name: 'iframe srcdoc with an img', page: '<iframe srcdoc="<img src={http}>"></iframe>' },
  {
    name: 'iframe data: with an img',
    page: '<iframe src="data:text/html,<img src={http}>"></iframe>',
  },
  {
    name: 'iframe blob: with an img',
    page: script(
      "const f=document.createElement('iframe');f.src=URL.createObjectURL(new Blob(['<img src={http}>'],{type:'text/html'}));document.body.append(f)",
    ),
  },
  { name: 'iframe javascript:', page: `<iframe src="javascript:'<img src={http}>'"></iframe>` },
  {
    name: 'frameset',
    page: script("document.documentElement.innerHTML='<frameset><frame src={http}></frameset>'"),
  },
  {
    name: 'blob: document that fetches',
    page: script("location=URL.createObjectURL(new Blob(['<img src={http}>'],{type:'text/html'}))"),
  },
  {
    name: 'rewritten document',
    page: script("document.open();document.write('<img src={http}>');document.close()"),
  },
  {
    name: 'download without a press',
    page: script(
      "const a=document.createElement('a');a.href=URL.createObjectURL(new Blob(['x']));a.download='x.txt';document.body.append(a);a.click()",
    ),
    by: 'native',
    live: ['chromium'],
  },
  { name: 'dialog', page: script("alert('hello')"), by: 'native', live: ['chromium'] },
  { name: 'question', page: script("confirm('sure?')"), by: 'native', live: ['chromium'] },
  {
    name: 'print',
    page: script(
      "addEventListener('beforeprint',(e)=>e.isTrusted&&top.postMessage({got:1},'*'));print()",
    ),
    by: 'told',
    live: ['chromium'],
  },
]
