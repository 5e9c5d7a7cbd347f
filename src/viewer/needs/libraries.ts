import { blob, doctype, type Need, say } from './pages.ts'

/** What libraries need that pages inline. */
export const libraries: Need[] = [
  {
    name: 'workers that are modules, and import one',
    page:
      doctype +
      say(
        `(async()=>{class Own extends Worker{};const part=${blob('export const a=8')};const text='import {a} from "'+part+'";onmessage=(e)=>postMessage(a+e.data+"é")';const at=URL.createObjectURL(new Blob([text],{type:'text/javascript'}));const w=new Own(at,{type:'module'});URL.revokeObjectURL(at);w.postMessage(1);return[w instanceof Own,await new Promise((r,n)=>{w.onmessage=(e)=>r(e.data);w.onerror=()=>n('failed')})]})()`,
      ),
    says: [true, '9é'],
  },
  {
    name: 'patterns that libraries change',
    page:
      doctype +
      say(
        "(()=>{const a=/a/;a[Symbol.match]=false;a.exec=()=>['own'];RegExp.prototype.constructor=RegExp;RegExp.prototype.extra=1;document.body.innerHTML='<b>b</b>';return['x'.replace(a,'')==='x',/b/.extra,document.body.textContent]})()",
      ),
    says: [false, 1, 'b'],
  },
]
