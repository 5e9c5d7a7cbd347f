import { blob, doctype, type Need, report } from './pages.ts'

/** Browser features that inlined libraries use. */
export const libraries: Need[] = [
  {
    name: 'workers that are modules, and import one',
    page:
      doctype +
      report(
        `(async()=>{class Own extends Worker{};const part=${blob('export const a=8')};const text='import {a} from "'+part+'";onmessage=(e)=>postMessage(a+e.data+"é")';const at=URL.createObjectURL(new Blob([text],{type:'text/javascript'}));const w=new Own(at,{type:'module'});w.postMessage(1);return[w instanceof Own,await new Promise((r,n)=>{w.onmessage=(e)=>r(e.data);w.onerror=()=>n('failed')})]})()`,
      ),
    says: [true, '9é'],
  },
  {
    name: 'a worker that is a module, whose address is given up at once',
    page:
      doctype +
      report(
        `new Promise((r,n)=>{const at=${blob('onmessage=(e)=>postMessage(e.data+1)')};const w=new Worker(at,{type:'module'});URL.revokeObjectURL(at);w.postMessage(1);w.onmessage=(e)=>r(e.data);w.onerror=()=>n('failed')})`,
      ),
    says: 2,
  },
  {
    name: 'functions of the window that it replaces',
    page: `${doctype}<script>var print=()=>1</script>${report('(()=>{const was=print();window.print=()=>2;window.alert=()=>3;return[was,print(),alert()]})()')}`,
    says: [1, 2, 3],
  },
  {
    name: 'addresses worked out from its own',
    page:
      doctype +
      report(
        "[new URL('a/b.png?c',location.href).pathname.endsWith('/a/b.png'),new URL('/d',location.origin).pathname,new URL('e:f').href,new URL('g','https://h.example/i/').href,new URL('?j=1',location).search,URL.createObjectURL(new Blob).slice(0,5),new URL('k:l') instanceof URL]",
      ),
    says: [true, '/d', 'e:f', 'https://h.example/i/g', '?j=1', 'blob:', true],
  },
  {
    name: 'patterns that libraries change',
    page:
      doctype +
      report(
        "(()=>{const a=/a/;a[Symbol.match]=false;a.exec=()=>['own'];RegExp.prototype.constructor=RegExp;RegExp.prototype.extra=1;document.body.innerHTML='<b>b</b>';return['x'.replace(a,'')==='x',/b/.extra,document.body.textContent]})()",
      ),
    says: [false, 1, 'b'],
  },
  {
    name: 'XML with names of elements that may not be here',
    page:
      doctype +
      report(
        `(()=>{const text='<rss xmlns:atom="a:b"><atom:link href="x"/><item><link>one</link><meta/></item></rss>';const made=text.replace('one','t'+'wo').replaceAll('x-off-','').replaceAll('basefont ','');return[text,made].map((s)=>new DOMParser().parseFromString(s,'text/xml')).map((d)=>[d.querySelector('parsererror'),d.querySelector('item > link').textContent])})()`,
      ),
    says: [
      [null, 'one'],
      [null, 'two'],
    ],
  },
  {
    name: 'style sheets that are put into the page as data',
    page:
      '<!doctype html><link rel="stylesheet" href="data:text/css;base64,I2F7d2lkdGg6NDBweH0="><link type=text/css rel=stylesheet href=\'data:text/css,%23b{width:30px}\' /><link rel=stylesheet media=print href="data:text/css,%23a{width:1px}"><body><p id=a><p id=b>' +
      report(
        '(async()=>{for(let n=0;n<50&&b.offsetWidth>30;n++)await new Promise((r)=>setTimeout(r,20));const text=\'<link rel="stylesheet" href="data:text/css,x">\';return[a.offsetWidth,b.offsetWidth,text.includes(\'data:text/css,x\')]})()',
      ),
    says: [40, 30, true],
  },
]
