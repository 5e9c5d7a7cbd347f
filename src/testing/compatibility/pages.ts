/** A browser feature that real pages use, tested by a page that posts what it found. */
export interface Need {
  name: string
  page: string
  /** User input at the center of the page after it has loaded. */
  hand?: 'click' | 'ArrowRight'
  /** The message that the page posts. */
  says: unknown
}

export const report = (expression: string): string =>
  `<script type=module>try{top.postMessage({said:await(${expression})},'*')}catch(e){top.postMessage({said:String(e)},'*')}</script>`
export const doctype = '<!doctype html><meta charset=utf-8><body>'
const fill = 'style="position:fixed;inset:0;display:block"'
const onPress = (code: string): string =>
  `<button ${fill} id=b>press</button><script>b.onclick=async()=>{const say=(said)=>top.postMessage({said},'*');${code}}</script>`
export const blob = (text: string): string =>
  `URL.createObjectURL(new Blob([${JSON.stringify(text)}],{type:'text/javascript'}))`

const wasm = '0,97,115,109,1,0,0,0'

/** Pages that test themselves: loaded, clicked where `hand` says so, and compared with `says`. */
export const needs: Need[] = [
  {
    name: 'localStorage by properties and by calls',
    page:
      doctype +
      report(
        "(localStorage.a=1,localStorage.setItem('b','2'),delete localStorage.none,[localStorage.a,localStorage.b,localStorage.c===undefined,localStorage.getItem('c'),'a' in localStorage,Object.keys(localStorage).join(),localStorage.length,localStorage.key(1),localStorage instanceof Storage,JSON.stringify(localStorage)])",
      ),
    says: ['1', '2', true, null, true, 'a,b', 2, 'b', true, '{"a":"1","b":"2"}'],
  },
  {
    name: 'localStorage that is full',
    page:
      doctype +
      report(
        "(()=>{try{for(const k of 'abc')localStorage[k]='y'.repeat(5e5)}catch(e){return e.name}})()",
      ),
    says: 'QuotaExceededError',
  },
  {
    name: 'names of its own that the browser or the viewer has too',
    page: `${doctype}<script>const open=()=>1,service=2</script>${report('[open(),service]')}`,
    says: [1, 2],
  },
  {
    name: 'the same names as variables',
    page: `${doctype}<script>var open=()=>1;function service(){return 2}</script>${report('[open(),service()]')}`,
    says: [1, 2],
  },
  {
    name: 'fetch of other hosts fails as offline does, and one line says why',
    page: `${doctype}<script>const lines=[];console.warn=(line)=>lines.push(line);const both=new Promise((done)=>{let n=0;document.addEventListener('securitypolicyviolation',()=>(n+=1)===2&&done())})</script>${report(
      "(async()=>{const failed=(host)=>fetch('https://'+host+'.example/').then(()=>'loaded',(error)=>error.name);const names=[await failed('a'),await failed('b')];await both;return [...names,...lines.map((line)=>line.replace(/(a network).*(https:.*example).*/,'$1 $2'))]})()",
    )}`,
    says: [
      'TypeError',
      'TypeError',
      'This app runs in a sandbox without a network https://a.example',
    ],
  },
  {
    name: 'a byte order mark',
    page: `\uFEFF<head><title>t</title></head><body>${report("document.head.querySelector('title')!==null")}`,
    says: true,
  },
  {
    name: 'quirks: lengths without units',
    page:
      '<style>#a{position:absolute;width:120;height:30px}</style><body><div id=a></div><div id=b style="width:70">x</div>' +
      report(
        "(a.style.left=40,b.style.height='25',a.style.top='5px',[a.offsetWidth,a.offsetLeft,b.offsetWidth,b.offsetHeight,a.offsetTop])",
      ),
    says: [120, 40, 70, 25, 5],
  },
  {
    name: 'quirks: numbers in calc(), and lengths that are taken away',
    page:
      '<style>#a{position:absolute;width:calc(200px - 2 * 10px)}</style><body><div id=a></div><div id=b style="width:50px;height:9px;top:calc(1px * 2 )">x</div>' +
      report(
        "(b.style.width=null,b.style.setProperty('height',null),[a.offsetWidth,b.getAttribute('style')])",
      ),
    says: [180, 'top: calc(2px);'],
  },
  {
    name: 'quirks: the height of the body',
    page:
      '<body style="margin:0"><div id=a style="height:100%">x</div>' +
      report('[document.body.clientHeight===innerHeight,a.offsetHeight===innerHeight]'),
    says: [true, true],
  },
  {
    name: 'no quirks with a doctype',
    page: `${doctype}<div id=a style="width:70">x</div>${report('a.offsetWidth===70')}`,
    says: false,
  },
  {
    name: 'a link within the page',
    page: `${doctype}<a ${fill} href=#there>go</a><p id=there>x</p><script>onhashchange=()=>top.postMessage({said:location.hash},'*')</script>`,
    hand: 'click',
    says: '#there',
  },
  {
    name: 'a link within a page that was written anew',
    page: `${doctype}<script>onload=()=>setTimeout(()=>{document.open();document.write('<a ${fill} href=#there>go</a><p id=there>x<script>onhashchange=()=>top.postMessage({said:location.hash},"*")</scr'+'ipt>');document.close()})</script>`,
    hand: 'click',
    says: '#there',
  },
  {
    name: 'a javascript: link',
    page: `${doctype}<a ${fill} href="javascript:top.postMessage({said:'ran'},'*')">go</a>`,
    hand: 'click',
    says: 'ran',
  },
  {
    name: 'pushState with a path and a query',
    page:
      doctype +
      report(
        "(history.pushState({n:1},'','/level/2?x=1'),history.replaceState({n:2},'','?y'),[location.hash,history.state.n])",
      ),
    says: ['#/level/2?y', 2],
  },
  {
    name: 'going back',
    page: `${doctype}<script>onpopstate=()=>top.postMessage({said:location.hash},'*');history.pushState(0,'','/a');history.pushState(0,'','/b');history.back()</script>`,
    says: '#/a',
  },
  {
    name: 'copying',
    page:
      doctype + onPress("navigator.clipboard.writeText('x').then(()=>say('copied'),e=>say(''+e))"),
    hand: 'click',
    says: 'copied',
  },
  {
    name: 'an alert that does not block',
    page: doctype + report("(alert('hello'),confirm('sure?')||prompt('name?')===null)"),
    says: true,
  },
  {
    name: 'cookies, databases, caches and service workers that answer quietly',
    page:
      doctype +
      report(
        "(async()=>{document.cookie='a=1; path=/';navigator.serviceWorker.register('sw.js');const c=await caches.open('x');await c.put('/','x');return[document.cookie,await caches.match('/')===undefined,await new Promise(r=>{indexedDB.open('x').onsuccess=()=>r('opened')})]})()",
      ),
    says: ['a=1', true, 'opened'],
  },
  {
    name: 'keys without a click first',
    page: `${doctype}<script>onkeydown=(e)=>top.postMessage({said:e.key},'*')</script>`,
    hand: 'ArrowRight',
    says: 'ArrowRight',
  },
  {
    name: 'eval, data: and blob: modules, WebAssembly',
    page:
      doctype +
      report(
        `(async()=>[eval('1+1'),(await import(${blob('export const a=3')})).a,(await import('data:text/javascript,export const b=4')).b,await WebAssembly.instantiate(new Uint8Array([${wasm}])).then(()=>'wasm')])()`,
      ),
    says: [2, 3, 4, 'wasm'],
  },
  {
    name: 'workers, which are strict and get the messages of their page alone',
    page:
      doctype +
      report(
        `new Promise((r)=>{const w=new Worker(${blob("'use strict';onmessage=(e)=>postMessage([e.data,(function(){return this===undefined})()])")});w.onmessage=(e)=>r(e.data);w.postMessage(7)})`,
      ),
    says: [7, true],
  },
  {
    name: 'canvas, sound, fonts and what else games reach for',
    page:
      doctype +
      report(
        `(async()=>{const c=document.createElement('canvas');c.getContext('2d').fillRect(0,0,9,9);const a=new AudioContext;await a.audioWorklet.addModule(${blob('registerProcessor("p",class extends AudioWorkletProcessor{process(){}})')});navigator.getGamepads();return[c.toDataURL().slice(0,10),await new Promise(r=>c.toBlob(b=>r(b.type))),typeof MediaRecorder,typeof c.requestPointerLock,document.fullscreenEnabled]})()`,
      ),
    says: ['data:image', 'image/png', 'function', 'function', true],
  },
  {
    name: 'a form that is handled by the page',
    page: `${doctype}<form><input name=a value=5><button ${fill}>go</button></form><script>document.forms[0].onsubmit=(e)=>{top.postMessage({said:new FormData(e.target).get('a')},'*')}</script>`,
    hand: 'click',
    says: '5',
  },
  {
    name: 'service.assets',
    page:
      doctype +
      report(
        "(async()=>{const s=service.assets;const names=await s.ready;const i=await s.image('dot.png');const a=await s.audio('beep.wav');return[names,s.names().length,s.url('dot.png').endsWith('/dot.png'),s.url('none'),i.naturalWidth,a instanceof HTMLAudioElement,(await s.bytes('dot.png')).byteLength>50,(await s.json('level.json')).n,await s.image('none'),await s.audio('none'),await s.bytes('none'),await s.json('none')]})()",
      ),
    says: [
      ['beep.wav', 'dot.png', 'level.json'],
      3,
      true,
      '',
      1,
      true,
      true,
      9,
      null,
      null,
      null,
      null,
    ],
  },
  {
    name: 'service is frozen',
    page:
      doctype +
      report(
        '(()=>{try{service=1}catch(e){};try{service.assets=1}catch(e){};return typeof service.assets.url})()',
      ),
    says: 'function',
  },
  {
    name: 'a page of just under 4 MB',
    page: `${doctype}<!--${'x'.repeat(4_190_000)}-->${report("'all of it'")}`,
    says: 'all of it',
  },
  {
    name: 'a head with all that stands in heads',
    page: `<!doctype html><html><head><meta charset=utf-8><meta name=theme-color content=#111><link rel="icon" href="data:,"><base target=_self><style>body{display:flex;margin:0}body>div{width:10px;height:9px;flex:none}</style></head><body><div id=a></div><div id=b></div>${report(
      `(document.querySelector('meta[name="theme-color"]').content='#222',document.querySelector('head > link[rel~=icon]').href='data:,x',[document.head.querySelector('style')!==null,a.parentNode===document.body,b.offsetLeft,document.querySelector('embed')])`,
    )}`,
    says: [true, true, 10, null],
  },
  {
    name: 'elements that may not be here end where they should',
    page: `${doctype}<div id=a><iframe></iframe><object></object><embed><b id=b>x</b></div>${report('b.parentNode===a')}`,
    says: true,
  },
  {
    name: 'code that compares without spaces',
    page: doctype + report('((i,base,link)=>i<base.length&&i<link)(1,[1,2],3)'),
    says: true,
  },
  {
    name: 'a socket, a form and an instrument that get nowhere',
    page: `${doctype}<form id=f action=/go></form>${report(
      "(async()=>{f.submit();const s=new WebSocket('wss://a.example');const midi=navigator.requestMIDIAccess?.().catch(e=>e.name)??'NotAllowedError';return[await new Promise(r=>{s.onclose=()=>r('closed');s.onerror=()=>r('error')}),await midi]})()",
    )}`,
    says: ['error', 'NotAllowedError'],
  },
  {
    name: 'microtasks between scripts, none of which runs in an event',
    page: `${doctype}<script>const seen=[];Promise.resolve().then(()=>seen.push('microtask'))</script><script>seen.push('script',window.event===undefined);top.postMessage({said:seen},'*')</script>`,
    says: ['microtask', 'script', true],
  },
  {
    name: 'document.write while the page is parsed',
    page: `${doctype}<script>document.write('<p id=w>x</p>')</script>${report("document.getElementById('w')!==null")}`,
    says: true,
  },
]
